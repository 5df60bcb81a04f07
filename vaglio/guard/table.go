package guard

// structuralRules are the rules about what a call would do, in the order of
// the documentation.
func structuralRules() []rule {
	row := func(id, what, why, instead string) rule {
		return rule{id: id, reason: "guard: " + what, why: why, instead: instead}
	}
	var all []rule
	all = append(all, treeRules(row)...)
	all = append(all, diskRules(row)...)
	all = append(all, placeRules(row)...)
	return append(all, processRules(row)...)
}

type newRule = func(id, what, why, instead string) rule

func treeRules(row newRule) []rule {
	const narrow = "Name exactly the files below the workspace that should go, one by one, and make sure that no variable in the path can be empty."
	return []rule{
		row(treeRoot, "the call would remove the root of the file system, or may",
			"Removing the root, or everything below it, destroys the machine; a path that begins with something unknown or unset may be the root.", narrow),
		row(treeHome, "the call would remove a home folder, or may",
			"Removing a home, or everything in it, loses what nobody can rebuild.", narrow),
		row(treeSystem, "the call would remove a folder of the system, or may",
			"Without its own folders the system does not run, and what was in them is gone.",
			"Remove the one file or package that should go, by the package manager where there is one, or ask the user."),
		row(vitalRule, "the call would replace or remove a program or library that everything needs",
			"Without its shell, loader, C library or first process a system does not start.",
			"Install another version beside it, in a folder of its own, or ask the user."),
		row(packageRule, "the call would remove packages that the system is made of",
			"Without its C library, shell, package manager or first process a system neither starts nor can be mended.",
			"Remove the one package that should go by its own name, or ask the user."),
		row(modeTree, "the call would change permissions or owners of a whole root, home or system folder",
			"The old modes and owners of a tree are kept nowhere, and a system with wrong ones neither logs in nor starts.",
			"Change the one file or the folder below the workspace that needs it."),
		row(modeOpen, "the call would open or lock a folder of the system, or open a file that decides about rights",
			"Whoever may write to such a place owns the machine, and a locked one stops it.",
			"Give the needed right to one file below the workspace, or ask the user."),
		row(modeSetID, "the call would make a shell or an interpreter run as its owner",
			"A shell that runs as root gives root to everybody.",
			"Ask the user to run the one step that needs other rights."),
	}
}

func diskRules(row newRule) []rule {
	const byHand = "Ask the user to do this to the disk, or use an image file inside the workspace."
	return []rule{
		row(diskRule, "the call would give a disk or raw memory to a program that may write to it",
			"A raw disk has no files to protect: one write can lose all of them.",
			"Work on files of the mounted file system, or ask the user to prepare the disk."),
		row(formatRule, "the call would format or erase a disk",
			"Making a file system, or erasing one, loses what was on the device.", byHand),
		row(tableRule, "the call would change a partition table",
			"Without its table a disk's partitions cannot be found.", byHand),
		row(volumeRule, "the call would destroy a logical volume, a pool, an array or an encrypted container",
			"What a volume, a pool or a container held is gone with it.", byHand),
		row(bootRule, "the call would write to the boot folder or the boot entries",
			"A broken boot folder leaves a machine that does not start.", "Use the package manager's own kernel packages, or ask the user."),
		row(kernelRule, "the call would turn a switch of the kernel",
			"These switches crash the machine, or hand what crashes to another program, at once.", "Ask the user to change the setting."),
	}
}

func placeRules(row newRule) []rule {
	const keys = "Let the program that needs the credential use it by itself, or ask the user to do that step."
	const admin = "Ask the user to look or change this by hand, or work inside the workspace."
	return []rule{
		row(authRead, "the call would read accounts or password hashes",
			"These files say who may log in and hold what is needed to become them.", "Use id or getent for one name, or ask the user."),
		row(authWrite, "the call would change what decides who may log in or become root",
			"These files decide who may log in, who may become root, and what runs without being asked.", admin),
		row(keyRule, "the call would touch private keys or a password store",
			"A private key opens other machines or signs in the user's name, and one that has left cannot be called back.", keys),
		row(credRule, "the call would touch credentials of the user's accounts",
			"These files open accounts and whatever those may spend, read or delete.", keys),
		row(memoryRule, "the call would look into another process's memory or environment",
			"There stand secrets that no file holds.", "Use a tool that lists processes, or ask the program itself."),
		row(adminRule, "the call would write to the administrator's home",
			"The administrator's home holds what belongs to nobody else, and what runs when root logs in.",
			"Work in the user's own folders, or ask the user to do it."),
	}
}

func processRules(row newRule) []rule {
	const gate = "Use the gate's programming interface for an approval's state, or ask the user."
	return []rule{
		row(forkRule, "the call would multiply processes without end",
			"A fork bomb stops the machine until it is switched off.", "Start the processes that are needed, and no more."),
		row(killRule, "the call would stop init, or every process",
			"Without its first process a machine stops, and with every process goes everybody's work.",
			"Stop the one process that was started, by its number."),
		row(ownCommand, "the call would run one of vaglio's own commands",
			"Whoever can answer for the person is no longer held by the gate.", gate),
		row(ownProcess, "the call would stop or change vaglio itself",
			"Without its gate nothing holds the agent.", gate),
		row(ownSettings, "the call would take the gate away from an agent",
			"An agent whose calls do not pass the gate is held by nothing.", "Ask the user to change the agent's settings by hand."),
	}
}

// The rules about what lies below files.
const (
	formatRule = "disk.format"
	tableRule  = "disk.table"
	volumeRule = "disk.volume"
)
