package project_test

import (
	"strings"
	"testing"
)

func TestMakefiles(t *testing.T) {
	t.Parallel()
	picture := deciding(t)
	for _, tt := range []struct {
		command string
		files   files
		want    string
	}{
		// which file, folder and target
		{"make", files{"GNUmakefile": "a:\n\tls", "Makefile": "a:\n\tid"}, "GNUmakefile:2 sh ls"},
		{"make --directory=sub", files{"sub/makefile": "a:\n\tls $(CURDIR) $(SHELL) $(MAKE)"}, "sub/makefile:2 sh ls /p/sub /bin/sh make"},
		{"make --makefile x", files{"x": "a:\n\tls"}, "x:2 sh ls"},
		{"make --makef x", files{"x": "a:\n\tls"}, "x:2 sh ls"},
		{"make -f x -f y b", files{"x": "a:\n\tls", "y": "b:\n\tid"}, "y:2 sh id"},
		{"make -C sub -C low", files{"sub/low/Makefile": "a:\n\tls"}, "sub/low/Makefile:2 sh ls"},
		{"make -j 4", files{"Makefile": "a:\n\tls\nb:\n\tid"}, "Makefile:2 sh ls"},
		{"make -j 4 b", files{"Makefile": "a:\n\tls\nb:\n\tid"}, "Makefile:4 sh id"},
		{"make -j b", files{"Makefile": "a:\n\tls\nb:\n\tid"}, "Makefile:4 sh id"},
		{"make -kf x", files{"x": "a:\n\tls"}, "x:2 sh ls"},
		{"make", files{"Makefile": ".PHONY: x\n%.o: y\n\tno\na: ; ls\nb: ; id"}, "Makefile:4 sh ls"},
		{"make", files{"Makefile": ".a: ; ls\n%.o: ; id"}, ""},
		{"make", files{"Makefile": "a:\n\tls\ninclude b.mk\n\tid"}, "Makefile:2 sh ls"},
		{"make", files{"Makefile": "a:\n\tls\nendif\n\tid"}, "Makefile:2 sh ls"},
		{"make", nil, ""},
		{"make", files{"Makefile": ".DEFAULT_GOAL = b\na: ; ls\nb: ; id"}, "Makefile:3 sh id"},
		{"make -C /p -j b X=1 -f Makefile", files{"Makefile": "a: ; ls\nb: ; id $(X)\nMakefile: ; no"}, "Makefile:2 sh id 1"},
		{"make -I b -o b -W b -E b --file Makefile --eval b a", files{"Makefile": "a: ; ls\nb: ; id"}, "Makefile:1 sh ls"},
		{"make a X+=1 Y?=2 Z:=3", files{"Makefile": "a: ; $X$Y$Z"}, "Makefile:1 sh 123"},
		{"make", files{"Makefile": "\tid\n\na:\n\t@-+ ls\n\n# remark\n\tls -l # kept\nb: ; id"}, "Makefile:4 sh ls\nMakefile:7 sh ls -l # kept"},
		{"make a", files{"Makefile": "a: ; ls\n$(info x)\n\tid\n"}, "Makefile:1 sh ls"},
		// what a rule needs
		{"make a", files{"Makefile": "a: b | c\n\t$@ $< $^\nb c:\n\t$@ $<"}, "Makefile:4 sh b\nMakefile:4 sh c\nMakefile:2 sh a b b c"},
		{"make x.o", files{"Makefile": "%.o: %.c %.h\n\tcc $< $* $@\n%.c:\n\tgen $@ $*"}, "Makefile:4 sh gen x.c x\nMakefile:2 sh cc x.c x x.o"},
		{"make x.o", files{"Makefile": "%.o: x"}, ""},
		{"make .o", files{"Makefile": "%.o:\n\tls"}, ""},
		{"make a.b", files{"Makefile": "%.o:\n\tls\na%: ; id"}, "Makefile:3 sh id"},
		{"make ab.o", files{"Makefile": "lib%.o:\n\tls\nab%.o: ; id"}, ""},
		{"make a", files{"Makefile": "a:: ; ls\na:: b; id\nb: a ; pwd"}, "Makefile:1 sh ls\nMakefile:3 sh pwd\nMakefile:2 sh id"},
		{"make a", files{"Makefile": "a: X = 1\na:\n\tls"}, "Makefile:3 sh ls"},
		{"make x", files{"Makefile": "T = x y\n$(T): ; ls $@"}, "Makefile:2 sh ls x"},
		// other lines
		{"make", files{"Makefile": "ifeq (a,b)\nelse\nendif\ndefine x\nendef\nifdef x\nifndef x\nifneq x\nunexport x: y\nvpath %.c x: y\na: ; ls"}, "Makefile:11 sh ls"},
		{"make", files{"Makefile": "export A = 1\noverride B := 2\nprivate C = 3\na: ; $A$B$C"}, "Makefile:4 sh 123"},
		{"make", files{"Makefile": "include a.mk b.mk\n-include c.mk\nsinclude d.mk\nD = d", "a.mk": "a: ; ls", "c.mk": "C = c", "d.mk": "a: ; $C $D"}, "a.mk:1 sh ls\nd.mk:1 sh c d"},
		{"make", files{"Makefile": "include mk/*.mk", "mk/a.mk": "a: ; ls", "mk/b.mk": "a: ; id", "mk/c.txt": "a: ; c", "mk/d/e.mk": "a: ; e", "a.mk": "a: ; f"}, "mk/a.mk:1 sh ls\nmk/b.mk:1 sh id"},
		{"make", files{"Makefile": strings.Repeat("include a.mk\n", 9) + "include b.mk", "a.mk": "A = 1", "b.mk": "a: ; ls"}, "b.mk:1 sh ls"},
		{"make", files{"Makefile": "include mk/[*.mk", "mk/[a.mk": "a: ; ls"}, ""},
		{"make", files{"Makefile": "F = x\ninclude $(F).mk # no.mk", "x.mk": "a: ; ls", "no.mk": "a: ; id"}, "x.mk:1 sh ls"},
		{"make", files{"Makefile": "$(shell id)\na: # b\n\tls\nb: ; no"}, "Makefile:1 sh id\nMakefile:3 sh ls"},
		// functions
		{"make", files{"Makefile": "a: ; ls $(wildcard b/*.c c.c) $(strip  d   e ) $(sort f)"}, "Makefile:1 sh ls b/*.c c.c d e f"},
		{"make", files{"Makefile": "S := b/*.c c.h\na: ; ls $(S:.c=.o) $(S:b/%.c=o/%.o) $(S:.h=)"}, "Makefile:2 sh ls b/*.o c.h o/*.o c.h b/*.c c"},
		{"make", files{"Makefile": "S = b/*\na: ; ls $(S:.c=.o) $(S:c=d) $(patsubst b,d,$S)"}, "Makefile:2 sh ls ${make_patsubst} ${make_patsubst} ${make_patsubst}"},
		{"make", files{"Makefile": "a: ; ls $(patsubst %.c,d/%.o,b.c c.h) $(patsubst b,d,b bb) $(patsubst b,d) $(subst b,d/,bb)"}, "Makefile:1 sh ls d/b.o c.h d bb ${make_patsubst} d/d/"},
		{"make", files{"Makefile": "a: ; ls $(subst b,d,b*) $(subst b,d) $(subst b ,c,b c) $(subst $b,c,d) $(subst ,b,c) $(basename b.c d/*.c) $(dir b c/*) $(notdir c/* d)"}, "Makefile:1 sh ls ${make_subst} ${make_subst} ${make_subst} ${make_subst} ${make_subst} b d/* ./ c/ * d"},
		{"make", files{"Makefile": "a: ; ls $(addprefix b/,c $(addsuffix .o,d)) $(firstword e f) $(lastword e f) $(firstword e*)"}, "Makefile:1 sh ls b/c b/d.o e f ${make_firstword}"},
		{"make", files{"Makefile": "R := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))\na: ; ls $(R)b $(abspath c)"}, "Makefile:2 sh ls /p/b /p/c"},
		{"make", files{"Makefile": "S := $(shell ls)\na: ; ls $(S:.c=.o) $(dir $S) $(subst a,b,$S) $(basename $S) b/$(notdir $S)"}, "Makefile:1 sh ls\nMakefile:2 sh make_shell_0=$(ls); ls ${make_patsubst} ${make_dir} ${make_subst} ${make_basename} b/${make_shell_0}"},
		{"make", files{"Makefile": "a: ; ls $(addprefix " + strings.Repeat("b", 300) + ",c) $(addprefix a,$(subst x,y,z),c)"}, "Makefile:1 sh ls ${make_addprefix} ${make_addprefix}"},
		// placeholders in quotes
		{"make", files{"Makefile": "a: ; ls 'b/$(x)' \"'$(x)'\" \\'$(x) 'c'"}, `Makefile:1 sh ls 'b/'"${make_x}"'' "'${make_x}'" \'${make_x} 'c'`},
		// variables
		{"make", files{"Makefile": "A ?= 1\nA ?= 2\nA += 3\nB := x\nB := $(B)y\na: ; ls $A ${B}"}, "Makefile:6 sh ls 1 3 xy"},
		{"make", files{"Makefile": "A != id -u\na: ; ls $A"}, "Makefile:1 sh id -u\nMakefile:2 sh ls ${make_A}"},
		{"make", files{"Makefile": "a: ; ls $$HOME $(no-pe) $(wildcard *$(shell id)) $$"}, "Makefile:1 sh id\nMakefile:1 sh make_shell_0=$(id); ls $HOME ${make_no_pe} *${make_shell_0} $"},
		{"make", files{"Makefile": "a: ; ls $(call x,(a)(b)) ${x} $(open"}, "Makefile:1 sh ls ${make_call} ${make_x} $(open"},
		{"make", files{"Makefile": "a: ; ls $(aZ09_z.)$"}, "Makefile:1 sh ls ${make_aZ09_z_}$"},
		{"make", files{"Makefile": "A = ${B)}\nB) = x\na: ; ls ${A} $(A b}c)"}, "Makefile:3 sh ls x ${make_A}"},
		{"make", files{"Makefile": "= x\nx:y = z\na: ; ls"}, "Makefile:3 sh ls"},
		{"make", files{"Makefile": "A = $(shell $(shell id))\na: ; ls $A"}, "Makefile:1 sh id\nMakefile:1 sh ${make_shell_0}\nMakefile:2 sh make_shell_1=$(${make_shell_0}); ls ${make_shell_1}"},
		{"make", files{"Makefile": "B = ls\nA = $B\nC := $B\nB = rm\na: ; $A $C"}, "Makefile:5 sh rm ls"},
		{"make B=rm", files{"Makefile": "B = ls\nB += -l\nB := id\na: ; $B"}, "Makefile:4 sh rm"},
		{"make", files{"Makefile": "A = x: y\n\tid\nb: ; ls $A"}, "Makefile:3 sh ls x: y"},
		{"make lib.o", files{"Makefile": "lib%.o:\n\tls $*\n"}, ""},
		{"make liba.o", files{"Makefile": "lib%.o:\n\tls $*\n"}, "Makefile:2 sh ls a"},
		{"make B=rm", files{"Makefile": "override B = ls\na: ; $B"}, "Makefile:2 sh ls"},
		{"make", files{"Makefile": "A = $(shell id)\na: ; $A $A"}, "Makefile:1 sh id\nMakefile:2 sh make_shell_0=$(id); ${make_shell_0} ${make_shell_0}"},
		{"make", files{"Makefile": "a: ; $(A1)\n" + chain(37)}, "Makefile:1 sh ls"},
		{"make", files{"Makefile": "a: ; $(A1)\n" + chain(60)}, "Makefile:1 sh ${make_depth}"},
	} {
		picture.add(call{command: tt.command, files: tt.files})
		if got := tasks(t, tt.command, tt.files); got != tt.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", tt.command, tt.files, got, tt.want)
		}
	}
	nested := files{"Makefile": "include 2"}
	for name := range strings.FieldsSeq("2 3 4 5 6 7 8 9") {
		nested[name] = "x: ; in" + name + "\ninclude " + string(name[0]+1)
	}
	if got := tasks(t, "make", nested); !strings.Contains(got, "in8") || strings.Contains(got, "in9") {
		t.Errorf("files that include each other eight deep: %s", got)
	}
}

// chain returns variables that each refer to the next.
func chain(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("A" + strings.Repeat("1", i+1) + " = $(A" + strings.Repeat("1", i+2) + ")\n")
	}
	return b.String() + "A" + strings.Repeat("1", n+1) + " = ls\n"
}
