package effects

// Effect is one thing that a call would do to the world.
type Effect struct {
	// Kind says what is done.
	Kind Kind `json:"kind"`
	// Target says to what, in the spelling a person would recognise; "" when
	// the effect has no target of its own.
	Target string `json:"target"`
	// Reversibility says whether it can be undone.
	Reversibility Reversibility `json:"reversibility"`
	// Reach says who or what is touched.
	Reach Reach `json:"reach"`
	// Sure is how certain the reading is, in [0,1].
	Sure float64 `json:"sure"`
	// Why says in words what is done and to what, in the third person and
	// without a subject: "deletes ../other-repo".
	Why string `json:"why"`
}

// Kind is what an effect does.
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
	// KindUnknown stands for what could not be read. It is asked.
	KindUnknown Kind = "unknown"
)

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

// usual returns what is typical of a kind: an effect of this kind as a table
// or a rule means it when it says nothing else.
func usual(k Kind) Effect {
	e := Effect{Kind: k, Sure: 1}
	switch k {
	case KindRead, KindCreate, KindMove:
		e.Reversibility, e.Reach = Reversible, ReachWorkspace
	case KindOverwrite, KindInstall:
		e.Reversibility, e.Reach = Partial, ReachWorkspace
	case KindDelete, KindForeignCode, KindCredentials:
		e.Reversibility, e.Reach = Irreversible, ReachUser
	case KindSend, KindPublish:
		e.Reversibility, e.Reach = Irreversible, ReachPublic
	case KindInfrastructure:
		e.Reversibility, e.Reach = Partial, ReachShared
	case KindDatabase, KindSpend, KindPhysical, KindPeople:
		e.Reversibility, e.Reach = Irreversible, ReachShared
	case KindPermissions, KindKill:
		e.Reversibility, e.Reach = Partial, ReachUser
	case KindPrivilege, KindSchedule, KindSafeguardOff, KindPower:
		e.Reversibility, e.Reach = Partial, ReachSystem
	case KindUnknown:
		e.Reversibility, e.Reach, e.Sure = Irreversible, ReachUser, 0.3
	}
	return e
}

// kindOf reads a kind as the tables spell it.
func kindOf(s string) (Kind, bool) {
	switch s {
	case "own":
		return KindOverwrite, true
	case "foreign":
		return KindForeignCode, true
	case "guard-off":
		return KindSafeguardOff, true
	}
	switch k := Kind(s); k {
	case KindRead, KindCreate, KindOverwrite, KindDelete, KindMove, KindForeignCode, KindInstall,
		KindSend, KindPublish, KindInfrastructure, KindDatabase, KindPrivilege, KindPermissions,
		KindCredentials, KindSpend, KindSchedule, KindSafeguardOff, KindKill, KindPower,
		KindPhysical, KindPeople, KindUnknown:
		return k, true
	}
	return "", false
}

// phrase is what an effect of this kind does, for tables without a message.
func (k Kind) phrase() string {
	switch k {
	case KindRead:
		return "reads"
	case KindCreate:
		return "creates"
	case KindOverwrite:
		return "changes"
	case KindDelete:
		return "deletes"
	case KindMove:
		return "moves"
	case KindForeignCode:
		return "runs code that nobody reviewed:"
	case KindInstall:
		return "installs"
	case KindSend:
		return "sends data out:"
	case KindPublish:
		return "publishes"
	case KindInfrastructure:
		return "changes running systems:"
	case KindDatabase:
		return "changes data in a database:"
	case KindPrivilege:
		return "changes the system's accounts or rights:"
	case KindPermissions:
		return "changes permissions:"
	case KindCredentials:
		return "reads or uses credentials:"
	case KindSpend:
		return "spends money:"
	case KindSchedule:
		return "changes what runs by itself:"
	case KindSafeguardOff:
		return "changes a safeguard:"
	case KindKill:
		return "stops processes:"
	case KindPower:
		return "changes the power state:"
	case KindPhysical:
		return "operates a device:"
	case KindPeople:
		return "reaches people:"
	case KindUnknown:
	}
	return "does something that is not known:"
}

// with returns the effect with another target and phrase.
func (e Effect) with(why, target string) Effect {
	e.Why, e.Target = why, target
	return e
}

// as returns the effect with another reversibility and reach.
func (e Effect) as(v Reversibility, r Reach) Effect {
	e.Reversibility, e.Reach = v, r
	return e
}

// reads is the effect of a call that changes nothing.
func reads() []Effect { return []Effect{usual(KindRead).with("reads", "")} }

// own is the effect of a call that changes the workspace only.
func own(why string) []Effect { return []Effect{usual(KindOverwrite).with(why, "")} }

// one is a list of a single effect as is usual for its kind.
func one(k Kind, why, target string) []Effect { return []Effect{usual(k).with(why, target)} }

// shared is a list of a single effect on something that others use, too.
func shared(k Kind, why, target string) []Effect {
	return []Effect{usual(k).with(why, target).as(Partial, ReachShared)}
}

// unknown is the effect of a call of which little is known.
func unknown(why, target string) []Effect { return one(KindUnknown, why, target) }
