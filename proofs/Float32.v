(* SPDX-License-Identifier: MIT *)
(* Float32.sol: add, sub, div, neg, abs, min, max, eq, lt, le: the specialised versions are the general ones. *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Decode Arithmetic Sum Products Dot Mul.
Open Scope Z_scope.

Definition WORD := 0xffffffff.

(* Float32.isInfinite, isNegative, areNumbers, canonical, applySign, decodeSigned, order, roundSigned *)
Definition isInfinite32 (a : Z) := Z.land a MAGNITUDE =? INFINITY32.
Definition isNegative32 (a : Z) := negb (Z.land a SIGN32 =? 0).
Definition areNumbers (a b : Z) :=
  negb ((INFINITY32 <? Z.land a MAGNITUDE) || (INFINITY32 <? Z.land b MAGNITUDE)).
Definition canonical32 (a : Z) :=
  let magnitude := Z.land a MAGNITUDE in
  if INFINITY32 <? magnitude then NAN32 else if magnitude =? 0 then 0 else Z.land a WORD.
Definition applySign (a magnitude : Z) : Z :=
  let mask := sub 0 (Z.land (shr 31 a) 1) in int (sub (Z.lxor magnitude mask) mask).
Definition decodeSigned32 (a : Z) : Z * Z := let '(mantissa, exponent) := Mul.decode a in (applySign a mantissa, exponent).
Definition order32 (a : Z) := applySign a (Z.land a MAGNITUDE).
Definition roundSigned32 (z e : Z) : Z :=
  let negative := z <? 0 in roundToFloat32 negative (uint (if negative then int (- z) else z)) e false.

(* Float32.addSpecial, add, sub, div *)
Definition addSpecial (a b : Z) : Z :=
  if isNaN32 a || isNaN32 b then NAN32
  else if isInfinite32 a then
    if isInfinite32 b && xorb (isNegative32 a) (isNegative32 b) then NAN32 else Z.land a WORD
  else Z.land b WORD.

Definition add32 (a b : Z) : Z :=
  if negb (areFinite a b) then addSpecial a b else
  let '(x, xExponent) := decodeSigned32 a in
  let '(y, yExponent) := decodeSigned32 b in
  let gap := int (xExponent - yExponent) in
  if 0 <=? gap then
    if 64 <? gap then Z.land a WORD else roundSigned32 (int (shlInt gap x + y)) yExponent
  else
    if gap <? - 64 then Z.land b WORD else roundSigned32 (int (x + shlInt (int (- gap)) y)) xExponent.

Definition sub32 (a b : Z) : Z := add32 a (Z.lxor b SIGN32).

Definition div32 (a b : Z) : Z :=
  let negative := isNegative32 (Z.lxor a b) in
  if negb (areFinite a b) then
    if isNaN32 a || isNaN32 b || (isInfinite32 a && isInfinite32 b) then NAN32
    else if isInfinite32 b then 0
    else if (if isZero32 b then isNegative32 a else negative) then NEG_INFINITY32 else INFINITY32
  else
    let '(x, xExponent) := Mul.decode a in
    let '(y, yExponent) := Mul.decode b in
    if y =? 0 then if x =? 0 then NAN32 else if isNegative32 a then NEG_INFINITY32 else INFINITY32
    else
      let x := shl 50 x in
      roundToFloat32 negative (x / y) (int (int (xExponent - 50) - yExponent)) (negb (x mod y =? 0)).

(* Float32.neg, abs, min, max, eq, lt, le *)
Definition neg32 (a : Z) : Z := canonical32 (Z.lxor a SIGN32).
Definition abs32 (a : Z) : Z := canonical32 (Z.land a MAGNITUDE).
Definition min32 (a b : Z) : Z := if negb (areNumbers a b) then NAN32 else canonical32 (if order32 a <? order32 b then a else b).
Definition max32 (a b : Z) : Z := if negb (areNumbers a b) then NAN32 else canonical32 (if order32 a <? order32 b then b else a).
Definition eq32 (a b : Z) : Z := b2z (areNumbers a b && (order32 a =? order32 b)).
Definition lt32 (a b : Z) : Z := b2z (areNumbers a b && (order32 a <? order32 b)).
Definition le32 (a b : Z) : Z := b2z (areNumbers a b && (order32 a <=? order32 b)).

Definition word32 (a : Z) := 0 <= a < 2 ^ 32.
Notation with32 lemma := (lemma 23 8 P23 P8 PM ltac:(lia) ltac:(lia)).

Ltac general := change isNaN32 with (isNaNWord 23 8); change isInfinite32 with (isInfiniteWord 23 8);
  change isNegative32 with (isNegativeWord 23 8); change canonical32 with (canonical 23 8).

Lemma numbers_same : forall a b, areNumbers a b = negb (isNaNWord 23 8 a) && negb (isNaNWord 23 8 b).
Proof. intros. apply negb_orb. Qed.

Lemma land_WORD : forall a, word32 a -> Z.land a WORD = a.
Proof. intros a Ha. change WORD with (2 ^ 32 - 1). rewrite land_ones_low by lia. apply Z.mod_small. exact Ha. Qed.

Lemma applySign_is : forall a m, word32 a -> 0 <= m < 2 ^ 255 -> applySign a m = if isNegativeWord 23 8 a then - m else m.
Proof.
  intros a m Ha Hm. unfold applySign.
  assert (S : Z.land (shr 31 a) 1 = b2z (isNegativeWord 23 8 a)).
  { rewrite (with32 isNegative_bit). change 1 with (2 ^ 1 - 1) at 1. rewrite land_ones_low by lia. change (2 ^ 1) with 2.
    rewrite shr_div by (unfold W, word32 in *; lia). change (23 + 8) with 31. rewrite <- Z.testbit_spec' by lia.
    destruct (Z.testbit a 31); reflexivity. }
  rewrite S, term_word by (unfold W; lia). apply int_of_word. destruct (isNegativeWord 23 8 a); lia.
Qed.

(* The general parts of a word are the specialised ones. *)
Lemma decode_same : forall a, word32 a -> Decode.decode 23 8 a = (isNegativeWord 23 8 a, fst (Mul.decode a), snd (Mul.decode a)).
Proof.
  intros a Ha. rewrite decode_parts by exact Ha. cbn [fst snd]. unfold Decode.decode.
  assert (M : magnitudeBits 23 8 a = a mod 2 ^ 31) by (apply (with32 magnitudeBits_mod)). rewrite M.
  pose proof (Z.mod_pos_bound a (2 ^ 31) ltac:(lia)). pose proof (magnitude_parts a) as Mp. pose proof (fieldOf_range a).
  pose proof (Z.mod_pos_bound a (2 ^ 23) ltac:(lia)).
  assert (F : shr 23 (a mod 2 ^ 31) = fieldOf a).
  { rewrite shr_div by (unfold W; lia). rewrite Mp, Z.add_comm, Z.div_add, Z.div_small by lia. lia. }
  rewrite F. change (sub (shl 23 1) 1) with (2 ^ 23 - 1). rewrite land_ones_low by lia. unfold mantissaOf, exponentOf.
  destruct (Z.eqb_spec (fieldOf a) 0) as [K|K]; [reflexivity|].
  change (shl 23 1) with (1 * 2 ^ 23). rewrite Z.lor_comm, lor_disjoint by lia.
  change (Format.lowest 23 8) with (-149). rewrite (int_small (fieldOf a - 1)) by lia. rewrite int_small by lia.
  f_equal; [f_equal|]; lia.
Qed.

Lemma decodeSigned_same : forall a, word32 a -> decodeSigned32 a = decodeSigned 23 8 a.
Proof.
  intros a Ha. unfold decodeSigned32, decodeSigned. rewrite decode_same by assumption. rewrite decode_parts by exact Ha.
  cbn [fst snd]. pose proof (mantissaOf_range a). rewrite applySign_is by (try assumption; lia).
  rewrite (int_small (mantissaOf a)) by lia. destruct (isNegativeWord 23 8 a); [rewrite int_small by lia|]; reflexivity.
Qed.

Lemma order_same : forall a, word32 a -> order32 a = order 23 8 a.
Proof.
  intros a Ha. destruct (with32 word_is a Ha) as [_ R]. rewrite (with32 order_is) by exact Ha. unfold order32.
  change (Z.land a MAGNITUDE) with (magnitudeBits 23 8 a). change (SIGN 23 8) with (2 ^ 31) in R. apply applySign_is; [assumption|lia].
Qed.

Lemma roundSigned_same : forall z e, - 2 ^ 254 <= e <= 2 ^ 254 -> roundSigned32 z e = roundSigned 23 8 z e.
Proof. intros. apply roundToFloat32_general; [apply Z.mod_pos_bound; reflexivity|assumption]. Qed.

Lemma finite_same : forall a b, word32 a -> word32 b ->
  areFinite a b = (isFinite 23 8 P23 P8 PM a && isFinite 23 8 P23 P8 PM b).
Proof.
  intros a b Ha Hb. destruct (with32 kinds a Ha) as (_ & -> & _). destruct (with32 kinds b Hb) as (_ & -> & _). reflexivity.
Qed.

Theorem add32_general : forall a b, word32 a -> word32 b -> add32 a b = addWords 23 8 64 a b.
Proof.
  intros a b Ha Hb. unfold add32, addWords, addSpecial. rewrite finite_same by assumption.
  general. rewrite !land_WORD, (with32 isNegative_lxor) by assumption.
  assert (C : forall c, word32 c -> isInfiniteWord 23 8 c = true -> canonical 23 8 c = c).
  { intros c Hc Hi. rewrite (with32 canonical_infinite 64 ltac:(lia) 50 ltac:(lia)) by assumption. apply Z.eqb_eq in Hi.
    rewrite <- Hi. symmetry. apply (with32 word_is). exact Hc. }
  destruct (with32 cases a Ha) as [(Na & Qa & Ka & Ia)|[(Na & Qa & Ka & Ia & _)|(Na & Qa & Ka & Ia & _ & La)]];
  destruct (with32 cases b Hb) as [(Nb & Qb & Kb & Ib)|[(Nb & Qb & Kb & Ib & _)|(Nb & Qb & Kb & Ib & _ & Lb)]];
  rewrite Qa, Qb, Ka, Kb; cbn [andb orb negb]; try reflexivity; rewrite ?Ia, ?Ib; cbn [andb];
  rewrite ?(C a), ?(C b) by assumption; try reflexivity.
  unfold addFinite. rewrite !decodeSigned_same by assumption.
  destruct (with32 decodeSigned_finite a Ha La) as (x & e & -> & Bx & Be & Zx & Nx & _).
  destruct (with32 decodeSigned_finite b Hb Lb) as (y & f & -> & By & Bf & Zy & Ny & _).
  change (Format.lowest 23 8) with (-149) in *. change (Format.highest 8) with 127 in *.
  rewrite !roundSigned_same by lia. rewrite !(int_small (e - f)) by lia.
  assert (Far : forall c z, word32 c -> magnitudeBits 23 8 c < INFINITY 23 8 -> (z = 0 <-> magnitudeBits 23 8 c = 0) ->
    2 ^ 23 <= Z.abs z -> canonical 23 8 c = c).
  { intros c z Hc Hl Hz Hn. rewrite (with32 canonical_is) by exact Hc. unfold isNaNWord.
    replace (INFINITY 23 8 <? _) with false by (symmetry; apply Z.ltb_ge; lia).
    destruct (Z.eqb_spec (magnitudeBits 23 8 c) 0); [|reflexivity]. assert (z = 0) by tauto. lia. }
  destruct (Z.leb_spec 0 (e - f)).
  - destruct (Z.ltb_spec 64 (e - f)); [|reflexivity]. symmetry. apply (Far a x); try assumption. apply Nx. lia.
  - change (- (64)) with (-64). destruct (Z.ltb_spec (e - f) (-64)); [|reflexivity]. symmetry. apply (Far b y); try assumption. apply Ny. lia.
Qed.

Theorem div32_general : forall a b, word32 a -> word32 b -> div32 a b = divWords 23 8 50 a b.
Proof.
  intros a b Ha Hb. unfold div32, divWords. rewrite finite_same by assumption.
  general. rewrite !(with32 isNegative_lxor).
  change (isZero32 b) with (magnitudeBits 23 8 b =? 0).
  destruct (with32 bounds) as (_ & _ & _ & I & _).
  assert (Zi : forall c, isInfiniteWord 23 8 c = true -> (magnitudeBits 23 8 c =? 0) = false).
  { intros c K. apply Z.eqb_eq in K. rewrite K. reflexivity. }
  destruct (with32 cases a Ha) as [(Na & Qa & Ka & Ia)|[(Na & Qa & Ka & Ia & _)|(Na & Qa & Ka & Ia & _ & La)]];
  destruct (with32 cases b Hb) as [(Nb & Qb & Kb & Ib)|[(Nb & Qb & Kb & Ib & _)|(Nb & Qb & Kb & Ib & _ & Lb)]];
  rewrite Qa, Qb, Ka, Kb; cbn [andb orb negb]; try reflexivity; rewrite ?Ia, ?Ib; cbn [andb]; try reflexivity.
  - rewrite (Zi a Ia). destruct (_ =? 0); destruct (isNegativeWord 23 8 a), (isNegativeWord 23 8 b); reflexivity.
  - rewrite !decode_same by assumption. destruct (with32 decode_finite a Ha La) as (x & e & Da & Bx & Be & Zx & _).
    destruct (with32 decode_finite b Hb Lb) as (y & f & Db & By & Bf & Zy & _).
    rewrite decode_same in Da, Db by assumption. destruct (Mul.decode a) as [x' e'], (Mul.decode b) as [y' f'].
    cbn [fst snd] in *. injection Da as -> ->. injection Db as -> ->.
    change (Format.lowest 23 8) with (-149) in *. change (Format.highest 8) with 127 in *. change (23 + 1) with 24 in *.
    destruct (Z.eqb_spec y 0) as [Y|Y].
    + replace (magnitudeBits 23 8 b =? 0) with true by (symmetry; apply Z.eqb_eq; tauto).
      destruct (Z.eqb_spec x 0) as [X|X].
      * replace (magnitudeBits 23 8 a =? 0) with true by (symmetry; apply Z.eqb_eq; tauto). reflexivity.
      * replace (magnitudeBits 23 8 a =? 0) with false by (symmetry; apply Z.eqb_neq; tauto).
        destruct (isNegativeWord 23 8 a); reflexivity.
    + replace (magnitudeBits 23 8 b =? 0) with false by (symmetry; apply Z.eqb_neq; tauto).
      rewrite !(int_small (e - 50)) by lia. rewrite !(int_small (e - 50 - f)) by lia. rewrite shl_small by (unfold W; lia).
      apply roundToFloat32_general; [|lia]. split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; unfold W; lia.
Qed.

(* The theorems of the general functions. *)
Notation infinity32 s := (if s : bool then NEG_INFINITY32 else INFINITY32).
Notation compared32 := (compared 23 8 P23 P8 PM).
Notation wordOf32 a := (wordOf 23 8 (floatOf 23 8 P23 P8 PM a)).

Lemma infinity_same : forall s, signed 23 8 s (INFINITY 23 8) = infinity32 s.
Proof. intros [|]; reflexivity. Qed.

Theorem add_correct32 : forall a b, word32 a -> word32 b ->
  if nan32 a || nan32 b then add32 a b = NAN32
  else if finite32 a && finite32 b then rounds_to32 (real32 a + real32 b) (add32 a b)
  else if negb (finite32 a) && negb (finite32 b) && xorb (negative32 a) (negative32 b) then add32 a b = NAN32
  else add32 a b = infinity32 (if finite32 a then negative32 b else negative32 a).
Proof.
  intros a b Ha Hb. pose proof (with32 add_correct 64 ltac:(lia) 50 ltac:(lia) a b Ha Hb) as T.
  rewrite infinity_same in T. rewrite <- add32_general in T by assumption. exact T.
Qed.

Lemma sub32_general : forall a b, word32 a -> word32 b -> sub32 a b = subWords 23 8 64 a b.
Proof.
  intros a b Ha Hb. unfold sub32, subWords. change (Format.SIGN 23 8) with SIGN32.
  apply add32_general; [assumption|]. exact (proj1 (with32 flipped 64 ltac:(lia) 50 ltac:(lia) b Hb)).
Qed.

Theorem sub_correct32 : forall a b, word32 a -> word32 b ->
  if nan32 a || nan32 b then sub32 a b = NAN32
  else if finite32 a && finite32 b then rounds_to32 (real32 a - real32 b) (sub32 a b)
  else if negb (finite32 a) && negb (finite32 b) && eqb (negative32 a) (negative32 b) then sub32 a b = NAN32
  else sub32 a b = infinity32 (if finite32 a then negb (negative32 b) else negative32 a).
Proof.
  intros a b Ha Hb. pose proof (with32 sub_correct 64 ltac:(lia) 50 ltac:(lia) a b Ha Hb) as T.
  rewrite infinity_same in T. rewrite <- sub32_general in T by assumption. exact T.
Qed.

Theorem div_correct32 : forall a b, word32 a -> word32 b ->
  if nan32 a || nan32 b then div32 a b = NAN32
  else if finite32 b then
    if zero32 b then
      if zero32 a then div32 a b = NAN32 else div32 a b = infinity32 (negative32 a)
    else if finite32 a then rounds_to32 (real32 a / real32 b) (div32 a b)
    else div32 a b = infinity32 (xorb (negative32 a) (negative32 b))
  else if finite32 a then div32 a b = 0 else div32 a b = NAN32.
Proof.
  intros a b Ha Hb. pose proof (with32 div_correct 64 ltac:(lia) 50 ltac:(lia) a b Ha Hb) as T.
  rewrite !(with32 isZero_bits 64 ltac:(lia) 50 ltac:(lia)), !infinity_same in T by assumption.
  rewrite <- div32_general in T by assumption.
  assert (E : forall c, word32 c -> zero32 c = (magnitudeBits 23 8 c =? 0)).
  { intros c Hc. rewrite zero_parts by exact Hc. rewrite (with32 magnitudeBits_mod). reflexivity. }
  rewrite !E by assumption. exact T.
Qed.

Theorem lt_correct32 : forall a b, word32 a -> word32 b -> lt32 a b = match compared32 a b with Some Lt => 1 | _ => 0 end.
Proof.
  intros a b Ha Hb. unfold lt32. rewrite numbers_same, !order_same by assumption.
  apply (with32 lt_correct 64 ltac:(lia) 50 ltac:(lia)); assumption.
Qed.

Theorem le_correct32 : forall a b, word32 a -> word32 b ->
  le32 a b = match compared32 a b with Some Lt | Some Eq => 1 | _ => 0 end.
Proof.
  intros a b Ha Hb. unfold le32. rewrite numbers_same, !order_same by assumption.
  apply (with32 le_correct 64 ltac:(lia) 50 ltac:(lia)); assumption.
Qed.

Theorem eq_correct32 : forall a b, word32 a -> word32 b -> eq32 a b = match compared32 a b with Some Eq => 1 | _ => 0 end.
Proof.
  intros a b Ha Hb. unfold eq32. rewrite numbers_same, !order_same by assumption.
  apply (with32 eq_correct 64 ltac:(lia) 50 ltac:(lia)); assumption.
Qed.

Theorem min_correct32 : forall a b, word32 a -> word32 b ->
  min32 a b = match compared32 a b with None => NAN32 | Some Lt => wordOf32 a | _ => wordOf32 b end.
Proof.
  intros a b Ha Hb. unfold min32. general. rewrite numbers_same, !order_same by assumption.
  rewrite <- negb_orb, negb_involutive. apply (with32 min_correct 64 ltac:(lia) 50 ltac:(lia)); assumption.
Qed.

Theorem max_correct32 : forall a b, word32 a -> word32 b ->
  max32 a b = match compared32 a b with None => NAN32 | Some Lt => wordOf32 b | _ => wordOf32 a end.
Proof.
  intros a b Ha Hb. unfold max32. general. rewrite numbers_same, !order_same by assumption.
  rewrite <- negb_orb, negb_involutive. apply (with32 max_correct 64 ltac:(lia) 50 ltac:(lia)); assumption.
Qed.

Theorem neg_correct32 : forall a, word32 a ->
  if nan32 a then neg32 a = NAN32
  else if finite32 a then rounds_to32 (- real32 a) (neg32 a)
  else neg32 a = infinity32 (negb (negative32 a)).
Proof.
  intros a Ha. pose proof (with32 neg_correct 64 ltac:(lia) 50 ltac:(lia) a Ha) as T. rewrite infinity_same in T. exact T.
Qed.

Theorem abs_correct32 : forall a, word32 a ->
  if nan32 a then abs32 a = NAN32
  else if finite32 a then rounds_to32 (Rabs (real32 a)) (abs32 a)
  else abs32 a = INFINITY32.
Proof. intros a Ha. exact (with32 abs_correct 64 ltac:(lia) 50 ltac:(lia) a Ha). Qed.
