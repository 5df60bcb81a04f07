// Package place is the one reader of paths and the one table of places.
//
// A path as it may be is text in which some bytes stand for what is not known
// letter by letter (see [AnyText] and its like). [Local] and [Clean] write a
// path in its normal form, [Decodings] gives what an encoded text may stand
// for, and a [Table] says what lies at a path, below it, and which rule of the
// guard is about it.
//
// The table is data, in the folder tables. A row is a line
//
//	class read=rule write=rule replace=rule remove=rule copy=rule | what it is
//
// followed by indented lines of patterns: / begins at the root, ~/ in any home,
// **/ in any folder; ** is any number of steps, * and ? stay within one, a
// trailing /** is the folder and all below it, a trailing /+ only what is below
// it, and {a,b} is either. !pattern is free again, =.ext is an ending by which a
// search of files picks the place's out. A pattern with blanks stands in double
// quotes. Rules that are left out leave the matter to the judges; copy is about
// copying what lies above the place together with it.
package place
