(* SPDX-License-Identifier: MIT *)
(* Float.sol: the parts of a word of any float type, and what the parts are by Flocq. *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo.
Open Scope Z_scope.

(* All lemmas have the same hypotheses, used or not. *)
Set Default Proof Using "All".
Section Decode.

Variables mw ew : Z.
Hypothesis Hmw : 0 < mw.
Hypothesis Hew : 0 < ew.
Hypothesis Hmax : mw + 1 < 2 ^ (ew - 1).
Hypothesis Hmw' : mw <= 53.
Hypothesis Hew' : ew <= 16.

Notation prec := (mw + 1).
Notation emax := (2 ^ (ew - 1)).
Notation highest := (highest ew).
Notation lowest := (lowest mw ew).
Notation SIGN := (SIGN mw ew).
Notation INFINITY := (INFINITY mw ew).
Notation NAN := (NAN mw ew).
Notation WIDTH := (WIDTH mw ew).
Notation rounded := (rounded mw ew).
Notation rounds_to := (rounds_to mw ew Hmw Hew Hmax).
Notation magnitude := (magnitude mw ew).
Notation signed := (signed mw ew).
Notation floatOf := (floatOf mw ew Hmw Hew Hmax).
Notation isNaN := (isNaN mw ew Hmw Hew Hmax).
Notation isFinite := (isFinite mw ew Hmw Hew Hmax).
Notation isNegative := (isNegative mw ew Hmw Hew Hmax).
Notation realOf := (realOf mw ew Hmw Hew Hmax).

(* Float._magnitude, isNaN, isInfinite, _isNegative, _infinity, canonical, decode, _decodeSigned, order *)
Definition magnitudeBits (a : Z) := Z.land a (sub SIGN 1).
Definition isNaNWord (a : Z) := INFINITY <? magnitudeBits a.
Definition isInfiniteWord (a : Z) := magnitudeBits a =? INFINITY.
Definition isNegativeWord (a : Z) := negb (Z.land a SIGN =? 0).
Definition infinityOf (negative : bool) := if negative then Z.lor SIGN INFINITY else INFINITY.
Definition canonical (a : Z) :=
  let magnitude := magnitudeBits a in
  if INFINITY <? magnitude then NAN else if magnitude =? 0 then 0 else Z.land a (sub (mul 2 SIGN) 1).
Definition decode (a : Z) : bool * Z * Z :=
  let hidden := shl mw 1 in
  let field := shr mw (magnitudeBits a) in
  let mantissa := Z.land a (sub hidden 1) in
  if field =? 0 then (isNegativeWord a, mantissa, lowest)
  else (isNegativeWord a, Z.lor mantissa hidden, int (lowest + int (field - 1))).
Definition decodeSigned (a : Z) : Z * Z :=
  let '(negative, mantissa, exponent) := decode a in ((if negative then int (- int mantissa) else int mantissa), exponent).
Definition order (a : Z) : Z :=
  let magnitude := int (magnitudeBits a) in if isNegativeWord a then int (- magnitude) else magnitude.

(* The sizes that the proofs need. *)
Lemma bounds : 0 < 2 ^ mw <= 2 ^ 60 /\ 1 <= highest < 2 ^ 16 /\ lowest = 1 - highest - mw /\ 0 < INFINITY < SIGN /\
  2 * SIGN < W /\ SIGN = 2 ^ (mw + ew) /\ WIDTH = 2 * SIGN /\ INFINITY = (2 ^ ew - 1) * 2 ^ mw /\
  SIGN = 2 ^ ew * 2 ^ mw /\ 2 ^ ew = 2 * highest + 2 /\ INFINITY < NAN < SIGN.
Proof.
  pose proof (sizes mw ew Hmw Hew Hmax) as (P & Q & S & D & E & I & H & H'). pose proof (INFINITY_positive mw ew Hmw Hew Hmax).
  assert (2 ^ mw <= 2 ^ 60) by (apply Z.pow_le_mono_r; lia).
  assert (2 ^ (ew - 1) <= 2 ^ 15) by (apply Z.pow_le_mono_r; lia).
  assert (2 * SIGN < W).
  { unfold Format.SIGN, W. replace (2 * 2 ^ (mw + ew)) with (2 ^ (mw + ew + 1)) by (rewrite (Z.pow_add_r 2 (mw + ew)); lia).
    apply Z.pow_lt_mono_r; lia. }
  assert (K : NAN = INFINITY + 2 ^ (mw - 1)) by reflexivity. rewrite K.
  unfold Format.lowest. unfold Format.highest. repeat split; try assumption; try lia.
Qed.

Lemma land_bit : forall a n, 0 <= n -> (Z.land a (2 ^ n) =? 0) = negb (Z.testbit a n).
Proof.
  intros a n Hn. replace (2 ^ n) with ((2 ^ 1 - 1) * 2 ^ n) by lia. rewrite land_field by lia. change (2 ^ 1) with 2.
  rewrite <- Z.testbit_spec' by assumption. assert (0 < 2 ^ n) by (apply pow_pos; assumption).
  destruct (Z.testbit a n); cbn [Z.b2z negb]; [apply Z.eqb_neq|apply Z.eqb_eq]; lia.
Qed.

Lemma isNegative_bit : forall a, isNegativeWord a = Z.testbit a (mw + ew).
Proof. intros. unfold isNegativeWord. destruct bounds as (_ & _ & _ & _ & _ & -> & _). rewrite land_bit by lia. apply negb_involutive. Qed.

Lemma isNegative_lxor : forall a b, isNegativeWord (Z.lxor a b) = xorb (isNegativeWord a) (isNegativeWord b).
Proof. intros. rewrite !isNegative_bit. apply Z.lxor_spec. Qed.

Lemma magnitudeBits_mod : forall a, magnitudeBits a = a mod SIGN.
Proof.
  intros. destruct bounds as (_ & _ & _ & I & B & S & _). unfold magnitudeBits. rewrite sub_small by (unfold W in *; lia).
  rewrite S. apply land_ones_low. lia.
Qed.

Lemma parts_signed : forall s m, 0 <= m < SIGN -> magnitudeBits (signed s m) = m /\ isNegativeWord (signed s m) = s.
Proof.
  intros s m Hm. rewrite magnitudeBits_mod, isNegative_bit. destruct bounds as (_ & _ & _ & I & B & S & _).
  assert (T : b2z (Z.testbit (signed s m) (mw + ew)) = (signed s m / SIGN) mod 2).
  { rewrite S. symmetry. etransitivity; [symmetry; apply Z.testbit_spec'; lia|]. destruct (Z.testbit _ _); reflexivity. }
  unfold Format.signed in *. destruct s.
  - replace (m + SIGN) with (m + 1 * SIGN) in * by lia. rewrite Z.mod_add, Z.mod_small by lia.
    rewrite Z.div_add, Z.div_small in T by lia. split; [reflexivity|]. destruct (Z.testbit _ _); [reflexivity|discriminate].
  - rewrite Z.mod_small by lia. rewrite Z.div_small in T by lia. split; [reflexivity|].
    destruct (Z.testbit _ _); [discriminate|reflexivity].
Qed.

Lemma word_is : forall a, 0 <= a < WIDTH ->
  a = signed (isNegativeWord a) (magnitudeBits a) /\ 0 <= magnitudeBits a < SIGN.
Proof.
  intros a Ha. destruct (word_signed mw ew Hmw Hew Hmax a Ha) as (s & m & -> & Hm).
  destruct (parts_signed s m Hm) as [-> ->]. split; [reflexivity|assumption].
Qed.

Lemma signed_range : forall s m, 0 <= m < SIGN -> 0 <= signed s m < WIDTH.
Proof. intros s m Hm. destruct bounds as (_ & _ & _ & _ & _ & _ & -> & _). unfold Format.signed. destruct s; lia. Qed.

(* By Flocq. *)
Lemma kinds : forall a, 0 <= a < WIDTH -> isNaN a = isNaNWord a /\ isFinite a = (magnitudeBits a <? INFINITY) /\
  (isNaNWord a = false -> isNegative a = isNegativeWord a) /\
  (isInfiniteWord a = true -> floatOf a = B754_infinity prec emax (isNegativeWord a)).
Proof.
  intros a Ha. destruct (word_is a Ha) as [E R]. unfold isNaNWord, isInfiniteWord.
  set (s := isNegativeWord a) in *. set (m := magnitudeBits a) in *. clearbody s m. subst a.
  destruct (Z.lt_trichotomy m INFINITY) as [L|[L|L]].
  - destruct (finite_word mw ew Hmw Hew Hmax s m ltac:(lia)) as (A & B & _ & D). rewrite A, B, D.
    repeat split; [symmetry; apply Z.ltb_ge; lia|symmetry; apply Z.ltb_lt; lia|intros K; apply Z.eqb_eq in K; lia].
  - subst m. pose proof (infinite_word mw ew Hmw Hew Hmax s) as I. rewrite Z.ltb_irrefl.
    unfold Format.isNaN, Format.isFinite, Format.isNegative. destruct (floatOf (signed s INFINITY)); try discriminate.
    injection I as ->. repeat split.
  - destruct (nan_word mw ew Hmw Hew Hmax s m ltac:(lia)) as (A & B). rewrite A, B.
    repeat split; [symmetry; apply Z.ltb_lt; lia|symmetry; apply Z.ltb_ge; lia| |intros K; apply Z.eqb_eq in K; lia].
    intros K. apply Z.ltb_ge in K. lia.
Qed.

(* The three kinds of words, for case analysis. *)
Lemma cases : forall a, 0 <= a < WIDTH ->
  (isNaN a = true /\ isFinite a = false /\ isNaNWord a = true /\ isInfiniteWord a = false) \/
  (isNaN a = false /\ isFinite a = false /\ isNaNWord a = false /\ isInfiniteWord a = true /\
    isNegative a = isNegativeWord a /\ magnitudeBits a = INFINITY /\ floatOf a = B754_infinity prec emax (isNegativeWord a)) \/
  (isNaN a = false /\ isFinite a = true /\ isNaNWord a = false /\ isInfiniteWord a = false /\
    isNegative a = isNegativeWord a /\ magnitudeBits a < INFINITY).
Proof.
  intros a Ha. destruct (kinds a Ha) as (A & B & C & D). unfold isNaNWord, isInfiniteWord in *. rewrite A, B.
  destruct (Z.ltb_spec INFINITY (magnitudeBits a)), (Z.ltb_spec (magnitudeBits a) INFINITY),
    (Z.eqb_spec (magnitudeBits a) INFINITY); try lia; auto 9.
  right. left. rewrite D by reflexivity. auto 9.
Qed.

(* A magnitude in units of the smallest number. *)
Definition unitsOfBits (m : Z) := if m / 2 ^ mw =? 0 then m mod 2 ^ mw else (m mod 2 ^ mw + 2 ^ mw) * 2 ^ (m / 2 ^ mw - 1).

Lemma magnitude_units : forall m, 0 <= m -> magnitude m = (IZR (unitsOfBits m) * bpow radix2 lowest)%R.
Proof.
  intros m Hm. unfold Format.magnitude, unitsOfBits. destruct bounds as (P & _).
  assert (0 <= m / 2 ^ mw) by (apply Z.div_pos; lia). destruct (Z.eqb_spec (m / 2 ^ mw) 0); [reflexivity|].
  rewrite mult_IZR, Rmult_assoc. f_equal.
  replace (IZR (2 ^ (m / 2 ^ mw - 1))) with (bpow radix2 (m / 2 ^ mw - 1)) by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
  rewrite <- bpow_plus. f_equal. lia.
Qed.

Lemma units_increase : forall m n, 0 <= m < n -> unitsOfBits m < unitsOfBits n.
Proof.
  intros m n Hmn. unfold unitsOfBits. destruct bounds as (P & _).
  pose proof (Z.div_mod m (2 ^ mw) ltac:(lia)) as Em. pose proof (Z.mod_pos_bound m (2 ^ mw) ltac:(lia)) as Rm.
  pose proof (Z.div_mod n (2 ^ mw) ltac:(lia)) as En. pose proof (Z.mod_pos_bound n (2 ^ mw) ltac:(lia)) as Rn.
  assert (Q : 0 <= m / 2 ^ mw <= n / 2 ^ mw) by (split; [apply Z.div_pos; lia|apply Z.div_le_mono; lia]).
  revert Em Rm En Rn Q. generalize (m / 2 ^ mw) as f. generalize (n / 2 ^ mw) as g.
  generalize (m mod 2 ^ mw) as r. generalize (n mod 2 ^ mw) as t. set (M := 2 ^ mw) in *. clearbody M.
  intros t r g f Em Rm En Rn Q. destruct (Z.eq_dec f g) as [->|N].
  - assert (r < t) by lia. destruct (Z.eqb_spec g 0); [lia|]. assert (0 < 2 ^ (g - 1)) by (apply pow_pos; lia).
    apply Z.mul_lt_mono_pos_r; lia.
  - replace (g =? 0) with false by (symmetry; apply Z.eqb_neq; lia).
    assert (0 < 2 ^ (g - 1)) by (apply pow_pos; lia). destruct (Z.eqb_spec f 0); [nia|].
    assert (2 ^ f <= 2 ^ (g - 1)) by (apply Z.pow_le_mono_r; lia).
    replace (2 ^ f) with (2 * 2 ^ (f - 1)) in * by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
    assert (0 < 2 ^ (f - 1)) by (apply pow_pos; lia). nia.
Qed.

Lemma decode_finite : forall a, 0 <= a < WIDTH -> magnitudeBits a < INFINITY -> exists m e,
  decode a = (isNegativeWord a, m, e) /\ 0 <= m < 2 ^ (mw + 1) /\ lowest <= e <= highest - mw /\
  (m = 0 <-> magnitudeBits a = 0) /\ (lowest < e -> 2 ^ mw <= m) /\
  realOf a = (if isNegativeWord a then - (IZR m * bpow radix2 e) else IZR m * bpow radix2 e)%R.
Proof.
  intros a Ha Hf. destruct (word_is a Ha) as [E R]. destruct bounds as (P & Hh & Hl & _ & HW & HS & HD & HI & HS' & He & _).
  destruct (finite_word mw ew Hmw Hew Hmax (isNegativeWord a) (magnitudeBits a) ltac:(lia)) as (_ & _ & V & _).
  rewrite <- E in V. rewrite V. unfold decode.
  assert (Em : Z.land a (sub (shl mw 1) 1) = magnitudeBits a mod 2 ^ mw).
  { rewrite shl_small by (unfold W; lia). rewrite Z.mul_1_l, sub_small by (unfold W; lia). rewrite land_ones_low by lia.
    rewrite E at 1. unfold Format.signed. destruct (isNegativeWord a); [|reflexivity]. rewrite HS'. apply Z.mod_add. lia. }
  rewrite Em. rewrite shr_div by (unfold W in *; lia). rewrite shl_small by (unfold W; lia). rewrite Z.mul_1_l.
  set (n := magnitudeBits a) in *. clearbody n. set (s := isNegativeWord a) in *. clearbody s. clear V Em E.
  assert (Hp : 2 ^ (mw + 1) = 2 * 2 ^ mw) by (rewrite Z.pow_add_r by lia; lia). rewrite Hp. clear Hp.
  pose proof (Z.div_mod n (2 ^ mw) ltac:(lia)) as Em. pose proof (Z.mod_pos_bound n (2 ^ mw) ltac:(lia)) as Rm.
  assert (Q : 0 <= n / 2 ^ mw <= 2 ^ ew - 2).
  { split; [apply Z.div_pos; lia|]. assert (n / 2 ^ mw < 2 ^ ew - 1) by (apply Z.div_lt_upper_bound; lia). lia. }
  unfold Format.magnitude. destruct (Z.eqb_spec (n / 2 ^ mw) 0) as [F|F].
  - exists (n mod 2 ^ mw), lowest. rewrite F in Em. repeat split; try lia; try reflexivity.
  - exists (n mod 2 ^ mw + 2 ^ mw), (n / 2 ^ mw + lowest - 1). rewrite Z.lor_comm.
    rewrite <- (Z.mul_1_l (2 ^ mw)) at 1. rewrite lor_disjoint by lia.
    rewrite (int_small (n / 2 ^ mw - 1)) by lia. rewrite int_small by lia.
    repeat split; try lia. f_equal; [f_equal|]; lia.
Qed.

Lemma decodeSigned_finite : forall a, 0 <= a < WIDTH -> magnitudeBits a < INFINITY -> exists z e,
  decodeSigned a = (z, e) /\ - 2 ^ (mw + 1) < z < 2 ^ (mw + 1) /\ lowest <= e <= highest - mw /\
  (z = 0 <-> magnitudeBits a = 0) /\ (lowest < e -> 2 ^ mw <= Z.abs z) /\ realOf a = (IZR z * bpow radix2 e)%R.
Proof.
  intros a Ha Hf. destruct (decode_finite a Ha Hf) as (m & e & D & M & Be & Hz & Hn & V). unfold decodeSigned. rewrite D.
  assert (2 ^ (mw + 1) <= 2 ^ 61) by (apply Z.pow_le_mono_r; lia). rewrite (int_small m) by lia.
  exists (if isNegativeWord a then int (- m) else m), e. rewrite V.
  destruct (isNegativeWord a); [rewrite int_small by lia|]; repeat split; try lia.
  rewrite opp_IZR. ring.
Qed.

Lemma order_is : forall a, 0 <= a < WIDTH -> order a = if isNegativeWord a then - magnitudeBits a else magnitudeBits a.
Proof.
  intros a Ha. destruct (word_is a Ha) as [_ R]. destruct bounds as (_ & _ & _ & _ & HW & _). unfold order, W in *.
  rewrite (int_small (magnitudeBits a)) by lia. rewrite int_small by lia. reflexivity.
Qed.

Lemma canonical_is : forall a, 0 <= a < WIDTH -> canonical a =
  if isNaNWord a then NAN else if magnitudeBits a =? 0 then 0 else a.
Proof.
  intros a Ha. destruct bounds as (_ & _ & _ & I & HW & HS & HD & _). unfold canonical, isNaNWord.
  destruct (_ <? _); [reflexivity|]. destruct (_ =? 0); [reflexivity|].
  rewrite mul_small by (unfold W in *; lia). rewrite sub_small by (unfold W in *; lia).
  replace (2 * SIGN) with (2 ^ (mw + ew + 1)) by (rewrite Z.pow_add_r, HS by lia; lia). rewrite land_ones_low by lia.
  apply Z.mod_small. exact Ha.
Qed.

Lemma infinityOf_is : forall s, infinityOf s = signed s INFINITY.
Proof.
  intros s. destruct bounds as (_ & _ & _ & I & _ & HS & _). unfold infinityOf, Format.signed. destruct s; [|reflexivity].
  rewrite HS. rewrite <- (Z.mul_1_l (2 ^ (mw + ew))). rewrite lor_disjoint by lia. lia.
Qed.

(* A word that is finite is its own rounding, but for the negative zero. *)
Lemma canonical_rounds : forall a x, 0 <= a < WIDTH -> magnitudeBits a < INFINITY -> rounded x = realOf a ->
  rounds_to x (canonical a).
Proof.
  intros a x Ha Hf Hx. rewrite canonical_is by assumption. destruct bounds as (_ & _ & _ & I & HW & HS & HD & _).
  assert (N : isNaNWord a = false) by (apply Z.ltb_ge; lia). rewrite N.
  destruct (word_is a Ha) as [E R].
  assert (L : (Rabs (rounded x) < bpow radix2 emax)%R) by (rewrite Hx; apply abs_B2R_lt_emax).
  destruct (Z.eqb_spec (magnitudeBits a) 0) as [Z0|Z0].
  - destruct (finite_word mw ew Hmw Hew Hmax false 0 ltac:(lia)) as (A & _ & V & _). unfold Format.signed in A, V.
    split; [lia|]. split; [intros _|intros; lra]. rewrite A, V, Hx. repeat split; [|lia].
    destruct (finite_word mw ew Hmw Hew Hmax (isNegativeWord a) 0 ltac:(lia)) as (_ & _ & V' & _).
    rewrite <- Z0 in V'. rewrite <- E in V'. rewrite V'. rewrite Z0, magnitude_subnormal by (try assumption; lia).
    rewrite Rmult_0_l. destruct (isNegativeWord a); ring.
  - destruct (finite_word mw ew Hmw Hew Hmax (isNegativeWord a) (magnitudeBits a) ltac:(lia)) as (A & _ & V & _).
    rewrite <- E in A. split; [assumption|]. split; [intros _|intros; lra]. rewrite Hx.
    repeat split; [assumption|]. intros K. apply Z0. rewrite K, magnitudeBits_mod. apply Z.mod_same. lia.
Qed.

Lemma rounded_word : forall a, rounded (realOf a) = realOf a.
Proof. intros. apply round_generic; [apply valid_rnd_N|]. apply generic_format_B2R. Qed.

End Decode.
