(* What the statements demand of a word, by functions of Flocq that can be computed. *)
Definition is_quiet mw ew := {x : binary_float (mw + 1) (2 ^ (ew - 1)) | Binary.is_nan _ _ x = true}.

Section Flocq.
Variables mw ew : Z.
Hypothesis Hmw : 0 < mw.
Hypothesis Hew : 0 < ew.
Hypothesis Hmax : mw + 1 < 2 ^ (ew - 1).
Variable quiet : is_quiet mw ew.
Notation prec := (mw + 1).
Notation emax := (2 ^ (ew - 1)).
Notation real := (floatOf mw ew Hmw Hew Hmax).
Notation word := (wordOf mw ew).
Notation inf s := (signed mw ew s (INFINITY mw ew)).
Definition positive : 0 < prec := Zle_lt_succ 0 mw (Z.lt_le_incl 0 mw Hmw).
Definition by_flocq (operation : (binary_float prec emax -> binary_float prec emax -> is_quiet mw ew) -> mode ->
  binary_float prec emax -> binary_float prec emax -> binary_float prec emax) (a b : Z) : Z :=
  word (operation (fun _ _ => quiet) mode_NE (real a) (real b)).
Definition plus := by_flocq (Bplus prec emax positive Hmax).
Definition minus := by_flocq (Bminus prec emax positive Hmax).
Definition times := by_flocq (Bmult prec emax positive Hmax).
(* The one zero has no sign: a quotient by zero has the dividend's. *)
Definition over (a b : Z) : Z :=
  match real a, real b with
  | B754_infinity _ _ s, B754_zero _ _ _ | B754_finite _ _ s _ _ _, B754_zero _ _ _ => inf s
  | _, _ => by_flocq (Bdiv prec emax positive Hmax) a b
  end.
Definition relation (a b : Z) := Bcompare prec emax (real a) (real b).
Definition less a b := match relation a b with Some Lt => 1 | _ => 0 end.
Definition lessOrEqual a b := match relation a b with Some Lt | Some Eq => 1 | _ => 0 end.
Definition equal a b := match relation a b with Some Eq => 1 | _ => 0 end.
Definition least a b := match relation a b with None => NAN mw ew | Some Lt => word (real a) | _ => word (real b) end.
Definition greatest a b := match relation a b with None => NAN mw ew | Some Lt => word (real b) | _ => word (real a) end.
Definition opposite (a _ : Z) := word (Bopp prec emax (fun _ => quiet) (real a)).
Definition absolute (a _ : Z) := word (Babs prec emax (fun _ => quiet) (real a)).
Definition same_number (a _ : Z) := word (real a).
(* A real with `sticky` is any between two mantissas. *)
Definition rounding (negative : bool) (m e : Z) (sticky : bool) : Z :=
  let twice := 2 * m + if sticky then 1 else 0 in
  flocqRound mw ew Hmw Hmax (if negative then - twice else twice) (e - 1).
End Flocq.

Definition quiet16 : is_quiet 10 5 := exist _ (B754_nan 11 16 false 1 eq_refl) eq_refl.
Definition quietB16 : is_quiet 7 8 := exist _ (B754_nan 8 128 false 1 eq_refl) eq_refl.
Definition quiet32 : is_quiet 23 8 := exist _ (B754_nan 24 128 false 1 eq_refl) eq_refl.
Definition quiet64 : is_quiet 52 11 := exist _ (B754_nan 53 1024 false 1 eq_refl) eq_refl.
Notation typed mw ew f := (f mw ew eq_refl eq_refl eq_refl).

Definition conversion mw ew H1 H2 H3 toMw toEw G1 (G2 : 0 < toEw) G3 (a : Z) : Z :=
  match floatOf mw ew H1 H2 H3 a with
  | B754_nan _ _ _ _ _ => NAN toMw toEw
  | B754_infinity _ _ s => signed toMw toEw s (INFINITY toMw toEw)
  | B754_zero _ _ _ => 0
  | B754_finite _ _ s m e _ => flocqRound toMw toEw G1 G3 (if s then Zneg m else Zpos m) e
  end.

(* The exact sum of exact products, as an integer times 2^-298. *)
Definition exact (t : Z * Z) : Z :=
  match floatOf 23 8 P23 P8 PM (fst t), floatOf 23 8 P23 P8 PM (snd t) with
  | B754_finite _ _ s m e _, B754_finite _ _ r n f _ =>
    (if xorb s r then -1 else 1) * (Zpos m * Zpos n) * 2 ^ (e + f + 298)
  | _, _ => 0
  end.
Definition sumByFlocq (terms : list (Z * Z)) : Z :=
  if has Nan terms || (has (Infinite false) terms && has (Infinite true) terms) then NAN32
  else if has (Infinite false) terms then INFINITY32
  else if has (Infinite true) terms then NEG_INFINITY32
  else flocqRound 23 8 P23 PM (fold_right (fun t sum => exact t + sum) 0 terms) (-298).

(* Openings under a hash without collisions. *)
Definition pairing (a b : Z) : Z := (a + b) * (a + b + 1) / 2 + b.
Definition leafAt (k : Z) : Z := 3 * k + 5.
Definition opening := (Z * Z * Z * list Z)%type.
Definition openings : list opening :=
  flat_map (fun width => flat_map (fun index =>
    let path := pathOf pairing (levelsFor width) leafAt index in
    [(width, leafAt index, index, path); (width, leafAt index + 1, index, path);
     (width, leafAt index, index + 2 ^ Z.of_nat (length path), path); (width, leafAt (index + 1), index, path);
     (width, leafAt index, index, path ++ [7]); (width, leafAt index, index, tl path);
     (width, leafAt index, index, 7 :: tl path); (width, leafAt index, width, path);
     (width, pairing (leafAt (2 * index)) (leafAt (2 * index + 1)), index, tl path)])
    (map Z.of_nat (seq 0 (Z.to_nat width)))) [1; 2; 3; 4; 5; 7; 8; 9].
Definition isOpening (o : opening) : bool :=
  let '(width, leaf, index, path) := o in
  (index <? width) && (leaf =? leafAt index) &&
  (if list_eq_dec Z.eq_dec path (pathOf pairing (levelsFor width) leafAt index) then true else false).
Definition rootFor (o : opening) : Z := let '(width, _, _, _) := o in rootOf pairing (levelsFor width) leafAt.
Definition verdicts := Eval vm_compute in map isOpening openings.
Definition roots := Eval vm_compute in map rootFor openings.
Fixpoint wrongOpening (f : Z -> Z -> Z -> Z -> list Z -> option bool) (os : list opening) (rs : list Z) (vs : list bool)
  (n : Z) : option Z :=
  match os, rs, vs with
  | (width, leaf, index, path) :: os, r :: rs, v :: vs =>
    if Bool.eqb match f r width leaf index path with Some true => true | _ => false end v
    then wrongOpening f os rs vs (n + 1) else Some n
  | _, _, _ => None
  end.

(* The number of the first vector on which a function differs. *)
Fixpoint wrong {A : Type} (f : A -> Z) (vectors : list A) (words : list Z) (n : Z) : option Z :=
  match vectors, words with
  | v :: vectors, w :: words => if f v =? w then wrong f vectors words (n + 1) else Some n
  | _, _ => None
  end.
Definition on2 {B : Type} (f : Z -> Z -> B) (t : Z * Z) := f (fst t) (snd t).
Definition rounding_t := (bool * Z * Z * bool)%type.
Definition on4 {B : Type} (f : bool -> Z -> Z -> bool -> B) (t : rounding_t) := let '(s, m, e, k) := t in f s m e k.
(* The number of the first comparison with a difference; -1 for none. *)
Fixpoint firstOf (comparisons : list (Z * (unit -> option Z))) : Z :=
  match comparisons with
  | [] => -1
  | (k, comparison) :: rest => match comparison tt with Some _ => k | None => firstOf rest end
  end.
