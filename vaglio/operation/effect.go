package operation

// Kind is what an effect does to the world.
type Kind string

// The kinds of effects.
const (
	KindRead           Kind = "read"
	KindCreate         Kind = "create"
	KindOverwrite      Kind = "overwrite"
	KindDelete         Kind = "delete"
	KindMove           Kind = "move"
	KindForeignCode    Kind = "run-foreign-code"
	KindInstall        Kind = "install"
	KindSend           Kind = "send"
	KindPublish        Kind = "publish"
	KindInfrastructure Kind = "infrastructure"
	KindDatabase       Kind = "database"
	KindPrivilege      Kind = "privilege"
	KindPermissions    Kind = "permissions"
	KindCredentials    Kind = "credentials"
	KindSpend          Kind = "spend"
	KindSchedule       Kind = "schedule"
	KindSafeguardOff   Kind = "safeguard-off"
	KindKill           Kind = "kill"
	KindPower          Kind = "power"
	KindPhysical       Kind = "physical"
	KindPeople         Kind = "people"
	// KindUnknown is an effect that could not be read. A person is asked about it.
	KindUnknown Kind = "unknown"
)

// Kinds returns all kinds, roughly from harmless to unknown.
func Kinds() []Kind {
	return []Kind{
		KindRead, KindCreate, KindOverwrite, KindDelete, KindMove, KindForeignCode, KindInstall, KindSend, KindPublish,
		KindInfrastructure, KindDatabase, KindPrivilege, KindPermissions, KindCredentials, KindSpend, KindSchedule,
		KindSafeguardOff, KindKill, KindPower, KindPhysical, KindPeople, KindUnknown,
	}
}

// Reversibility says whether an effect can be undone.
type Reversibility string

// The degrees of reversibility.
const (
	Reversible   Reversibility = "reversible"
	Partial      Reversibility = "partial"
	Irreversible Reversibility = "irreversible"
)

// Reach says who or what an effect touches.
type Reach string

// The reaches, from near to far.
const (
	ReachWorkspace Reach = "workspace"
	ReachUser      Reach = "user"
	ReachSystem    Reach = "system"
	ReachShared    Reach = "shared"
	ReachPublic    Reach = "public"
)

// Reaches returns all reaches, from near to far.
func Reaches() []Reach {
	return []Reach{ReachWorkspace, ReachUser, ReachSystem, ReachShared, ReachPublic}
}

// Usual returns the typical reversibility and reach of a kind, for effects of which nothing else is known.
func Usual(k Kind) (Reversibility, Reach) {
	switch k {
	case KindRead, KindCreate, KindMove:
		return Reversible, ReachWorkspace
	case KindOverwrite, KindInstall:
		return Partial, ReachWorkspace
	case KindDelete, KindForeignCode, KindCredentials:
		return Irreversible, ReachUser
	case KindSend, KindPublish:
		return Irreversible, ReachPublic
	case KindInfrastructure:
		return Partial, ReachShared
	case KindDatabase, KindSpend, KindPhysical, KindPeople:
		return Irreversible, ReachShared
	case KindPermissions, KindKill:
		return Partial, ReachUser
	case KindPrivilege, KindSchedule, KindSafeguardOff, KindPower:
		return Partial, ReachSystem
	case KindUnknown:
		return Irreversible, ReachUser
	}
	return Irreversible, ReachUser
}
