// Package place is the only reader of paths and the only table of places.
//
// A path may be partly unknown: then some of its bytes stand for unknown text (see [AnyText] and the others). [Local] and [Clean] bring a path into its normal
// form, [Decodings] yields what an encoded text may stand for, and a [Table] says what lies at a path, what lies below it, and which rule of the guard applies.
//
// The table is data, in the folder tables. A row is a line
//
//	class read=rule write=rule replace=rule remove=rule copy=rule | what it is
//
// followed by indented lines of patterns: / begins at the root, ~/ in any home, **/ in any folder; ** is any number of steps; * and ? stay within one; a
// trailing /** is the folder and everything below it, a trailing /+ only what is below it; and {a,b} is either one. !pattern makes an exception; =.ext is a
// file extension by which a search for files selects this place. A pattern with blanks is in double quotes. If a rule is left out, the judges decide; copy is
// about copying a folder above the place together with the place.
package place
