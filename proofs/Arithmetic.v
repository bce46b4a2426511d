(* SPDX-License-Identifier: MIT *)
(* Float.sol: add, sub, mul, div, neg, abs, min, max, eq, lt, le of any float type. *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Decode.
Open Scope Z_scope.

Set Default Proof Using "All".
Section Arithmetic.

Variables mw ew : Z.
Hypothesis Hmw : 0 < mw.
Hypothesis Hew : 0 < ew.
Hypothesis Hmax : mw + 1 < 2 ^ (ew - 1).
Hypothesis Hmw' : mw <= 53.
Hypothesis Hew' : ew <= 16.
(* Beyond this distance between exponents, the smaller term of a sum does not change the rounded sum. *)
Variable FAR : Z.
Hypothesis HFAR : mw + 4 <= FAR <= 192.
(* What a dividend is shifted by, so that a quotient has more bits than its rounding. *)
Variable SHIFT : Z.
Hypothesis HSHIFT : 2 * mw + 2 <= SHIFT <= 108.

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
Notation signed := (signed mw ew).
Notation floatOf := (floatOf mw ew Hmw Hew Hmax).
Notation isNaN := (isNaN mw ew Hmw Hew Hmax).
Notation isFinite := (isFinite mw ew Hmw Hew Hmax).
Notation isNegative := (isNegative mw ew Hmw Hew Hmax).
Notation realOf := (realOf mw ew Hmw Hew Hmax).
Notation wordOf := (wordOf mw ew).
Notation roundTo := (roundTo mw ew).
Notation magnitudeBits := (magnitudeBits mw ew).
Notation isNaNWord := (isNaNWord mw ew).
Notation isInfiniteWord := (isInfiniteWord mw ew).
Notation isNegativeWord := (isNegativeWord mw ew).
Notation infinityOf := (infinityOf mw ew).
Notation canonical := (canonical mw ew).
Notation decode := (decode mw ew).
Notation decodeSigned := (decodeSigned mw ew).
Notation order := (order mw ew).
Notation unitsOfBits := (unitsOfBits mw).
Notation with_type lemma := (lemma mw ew Hmw Hew Hmax Hmw' Hew').

(* Float._roundSigned *)
Definition roundSigned (z e : Z) : Z :=
  let negative := z <? 0 in roundTo negative (uint (if negative then int (- z) else z)) e false.
(* `<<` of an int256, for less than 256 places *)
Definition shlInt (s z : Z) := int (z * 2 ^ s).

(* Float.add of finite words *)
Definition addFinite (a b : Z) : Z :=
  let '(x, xExponent) := decodeSigned a in
  let '(y, yExponent) := decodeSigned b in
  let gap := int (xExponent - yExponent) in
  if 0 <=? gap then
    if FAR <? gap then canonical a else roundSigned (int (shlInt gap x + y)) yExponent
  else
    if gap <? - FAR then canonical b else roundSigned (int (x + shlInt (int (- gap)) y)) xExponent.

(* Float.add, sub, mul, div *)
Definition addWords (a b : Z) : Z :=
  if isNaNWord a || isNaNWord b then NAN
  else if isInfiniteWord a then
    if isInfiniteWord b && isNegativeWord (Z.lxor a b) then NAN else canonical a
  else if isInfiniteWord b then canonical b
  else addFinite a b.

Definition subWords (a b : Z) : Z := addWords a (Z.lxor b SIGN).

Definition mulWords (a b : Z) : Z :=
  let negative := isNegativeWord (Z.lxor a b) in
  if isNaNWord a || isNaNWord b then NAN
  else if isInfiniteWord a || isInfiniteWord b then
    if (magnitudeBits a =? 0) || (magnitudeBits b =? 0) then NAN else infinityOf negative
  else
    let '(_, x, xExponent) := decode a in
    let '(_, y, yExponent) := decode b in
    roundTo negative (mul x y) (int (xExponent + yExponent)) false.

Definition divWords (a b : Z) : Z :=
  let negative := isNegativeWord (Z.lxor a b) in
  if isNaNWord a || isNaNWord b then NAN
  else if isInfiniteWord b then if isInfiniteWord a then NAN else 0
  else if magnitudeBits b =? 0 then if magnitudeBits a =? 0 then NAN else infinityOf (isNegativeWord a)
  else if isInfiniteWord a then infinityOf negative
  else
    let '(_, x, xExponent) := decode a in
    let '(_, y, yExponent) := decode b in
    let x := shl SHIFT x in
    roundTo negative (x / y) (int (int (xExponent - SHIFT) - yExponent)) (negb (x mod y =? 0)).

(* Float.neg, abs, min, max, eq, lt, le *)
Definition negWord (a : Z) : Z := canonical (Z.lxor a SIGN).
Definition absWord (a : Z) : Z := canonical (magnitudeBits a).
Definition minWords (a b : Z) : Z :=
  if isNaNWord a || isNaNWord b then NAN else canonical (if order a <? order b then a else b).
Definition maxWords (a b : Z) : Z :=
  if isNaNWord a || isNaNWord b then NAN else canonical (if order a <? order b then b else a).
Definition eqWords (a b : Z) : Z := b2z (negb (isNaNWord a) && negb (isNaNWord b) && (order a =? order b)).
Definition ltWords (a b : Z) : Z := b2z (negb (isNaNWord a) && negb (isNaNWord b) && (order a <? order b)).
Definition leWords (a b : Z) : Z := b2z (negb (isNaNWord a) && negb (isNaNWord b) && (order a <=? order b)).

(* What is specified. *)
Definition isWord (a : Z) := 0 <= a < WIDTH.
Definition isZero (a : Z) : bool := isFinite a && Req_bool (realOf a) 0.
Definition compared (a b : Z) : option comparison := Bcompare prec emax (floatOf a) (floatOf b).

Lemma roundSigned_rounds : forall z e, - 2 ^ 255 < z < 2 ^ 255 -> - 2 ^ 254 <= e <= 2 ^ 254 ->
  rounds_to (IZR z * bpow radix2 e) (roundSigned z e).
Proof.
  intros z e Hz He. unfold roundSigned. destruct (Z.ltb_spec z 0).
  - rewrite int_small, uint_small by (unfold W; lia).
    replace (IZR z * bpow radix2 e)%R with (if true then - (IZR (- z) * bpow radix2 e) else IZR (- z) * bpow radix2 e)%R
      by (cbv iota; rewrite opp_IZR; ring).
    apply (roundTo_correct mw ew Hmw Hew Hmax ltac:(lia) ltac:(lia) true (- z) e false); try (unfold W; lia); try reflexivity; discriminate.
  - rewrite uint_small by (unfold W; lia).
    change (IZR z * bpow radix2 e)%R with (if false then - (IZR z * bpow radix2 e) else IZR z * bpow radix2 e)%R.
    apply (roundTo_correct mw ew Hmw Hew Hmax ltac:(lia) ltac:(lia) false z e false); try (unfold W; lia); try reflexivity; discriminate.
Qed.

Lemma isZero_bits : forall a, isWord a -> isZero a = (magnitudeBits a =? 0).
Proof.
  intros a Ha. destruct (with_type kinds a Ha) as (_ & F & _). unfold isZero. rewrite F.
  destruct (with_type bounds) as (_ & _ & _ & I & _).
  destruct (Z.ltb_spec (magnitudeBits a) INFINITY) as [L|L]; [|symmetry; apply Z.eqb_neq; lia]. cbn [andb].
  destruct (with_type decode_finite a Ha L) as (m & e & _ & _ & _ & Hz & _ & V). rewrite V.
  pose proof (bpow_gt_0 radix2 e) as B. destruct (Z.eqb_spec (magnitudeBits a) 0) as [K|K].
  - apply Hz in K. subst m. rewrite Rmult_0_l. apply Req_bool_true. destruct (isNegativeWord a); ring.
  - assert (m <> 0) by tauto. assert (IZR m <> 0%R) by (apply IZR_neq; assumption).
    assert (IZR m * bpow radix2 e <> 0)%R by (apply Rmult_integral_contrapositive_currified; lra).
    apply Req_bool_false. destruct (isNegativeWord a); lra.
Qed.

(* A term far below the last bit of the other. *)
Lemma absorbed : forall z e (y : R), 2 ^ mw <= Z.abs z < 2 ^ (mw + 1) -> lowest < e -> (Rabs y < bpow radix2 (e - 2))%R ->
  rounded (IZR z * bpow radix2 e + y) = (IZR z * bpow radix2 e)%R.
Proof.
  intros z e y Hz He Hy. set (v := (IZR z * bpow radix2 e + y)%R).
  assert (Hb : (0 < bpow radix2 e)%R) by apply bpow_gt_0.
  assert (HX : (bpow radix2 (e + mw) <= Rabs (IZR z * bpow radix2 e) <= bpow radix2 (e + mw + 1) - bpow radix2 e)%R).
  { rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)) by lra. rewrite <- abs_IZR.
    replace (e + mw + 1) with (e + (mw + 1)) by lia. rewrite !(bpow_plus radix2 e).
    rewrite <- (IZR_Zpower radix2 mw), <- (IZR_Zpower radix2 (mw + 1)) by lia. change (radix_val radix2) with 2.
    split; [rewrite Rmult_comm; apply Rmult_le_compat_r; [lra|apply IZR_le; lia]|].
    assert (IZR (Z.abs z) <= IZR (2 ^ (mw + 1)) - 1)%R by (rewrite <- minus_IZR; apply IZR_le; lia). nra. }
  assert (H2 : (bpow radix2 (e - 2) <= bpow radix2 (e + mw - 1))%R) by (apply bpow_le; lia).
  assert (H3 : (bpow radix2 (e + mw) = 2 * bpow radix2 (e + mw - 1))%R).
  { replace (e + mw) with (1 + (e + mw - 1)) at 1 by lia. rewrite bpow_plus. reflexivity. }
  assert (H4 : (bpow radix2 (e - 2) <= bpow radix2 e)%R) by (apply bpow_le; lia).
  assert (Lo : (bpow radix2 (e + mw - 1) <= Rabs v)%R).
  { unfold v. pose proof (Rabs_triang_inv (IZR z * bpow radix2 e) (- y)) as T. rewrite Rabs_Ropp in T.
    unfold Rminus in T. rewrite Ropp_involutive in T. lra. }
  assert (Hi : (Rabs v < bpow radix2 (e + mw + 1))%R).
  { unfold v. apply Rle_lt_trans with (1 := Rabs_triang _ _). lra. }
  assert (Hv : v <> 0%R).
  { intros E. rewrite E, Rabs_R0 in Lo. pose proof (bpow_gt_0 radix2 (e + mw - 1)). lra. }
  assert (M1 : e + mw <= mag radix2 v) by (apply mag_ge_bpow; exact Lo).
  assert (M2 : mag radix2 v <= e + mw + 1) by (apply mag_le_bpow; assumption).
  unfold Format.rounded, round, scaled_mantissa. set (c := cexp radix2 (SpecFloat.fexp prec emax) v).
  assert (Hc : c = e - 1 \/ c = e).
  { unfold c, cexp. rewrite fexp_is by assumption. lia. }
  clearbody c. assert (E : ZnearestE (v * bpow radix2 (- c)) = z * 2 ^ (e - c)).
  { apply Znearest_imp. rewrite mult_IZR. replace (IZR (2 ^ (e - c))) with (bpow radix2 (e - c))
      by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
    replace (v * bpow radix2 (- c) - IZR z * bpow radix2 (e - c))%R with (y * bpow radix2 (- c))%R
      by (unfold v; replace (e - c) with (e + - c) by lia; rewrite bpow_plus; ring).
    rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)) by apply bpow_ge_0.
    apply Rlt_le_trans with (bpow radix2 (e - 2) * bpow radix2 (- c))%R.
    - apply Rmult_lt_compat_r; [apply bpow_gt_0|assumption].
    - rewrite <- bpow_plus. change (/ 2)%R with (bpow radix2 (-1)). apply bpow_le. lia. }
  rewrite E. unfold F2R; cbn [Fnum Fexp]. rewrite mult_IZR. replace (IZR (2 ^ (e - c))) with (bpow radix2 (e - c))
    by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
  rewrite Rmult_assoc, <- bpow_plus. f_equal. f_equal. lia.
Qed.

Lemma addFinite_rounds : forall a b, isWord a -> isWord b -> magnitudeBits a < INFINITY -> magnitudeBits b < INFINITY ->
  rounds_to (realOf a + realOf b) (addFinite a b).
Proof.
  intros a b Ha Hb Fa Fb. destruct (with_type bounds) as (P & Hh & Hl & _). unfold addFinite.
  destruct (with_type decodeSigned_finite a Ha Fa) as (x & e & -> & Bx & Be & _ & Nx & Vx).
  destruct (with_type decodeSigned_finite b Hb Fb) as (y & f & -> & By & Bf & _ & Ny & Vy).
  assert (H2 : 2 ^ (mw + 1) <= 2 ^ 54) by (apply Z.pow_le_mono_r; lia).
  rewrite (int_small (e - f)) by lia.
  assert (Far : forall k w l, - 2 ^ (mw + 1) < w < 2 ^ (mw + 1) -> FAR < k - l ->
    (Rabs (IZR w * bpow radix2 l) < bpow radix2 (k - 2))%R).
  { intros k w l Hw Hk. rewrite Rabs_mult, (Rabs_pos_eq (bpow _ _)) by apply bpow_ge_0. rewrite <- abs_IZR.
    apply Rlt_le_trans with (bpow radix2 (mw + 1) * bpow radix2 l)%R.
    - apply Rmult_lt_compat_r; [apply bpow_gt_0|]. rewrite <- (IZR_Zpower radix2) by lia. apply IZR_lt.
      change (radix_val radix2) with 2. lia.
    - rewrite <- bpow_plus. apply bpow_le. lia. }
  assert (Near : forall z w k l, - 2 ^ (mw + 1) < z < 2 ^ (mw + 1) -> - 2 ^ (mw + 1) < w < 2 ^ (mw + 1) ->
    0 <= k - l <= FAR -> - 2 ^ 250 < z * 2 ^ (k - l) < 2 ^ 250 /\
    (IZR z * bpow radix2 k + IZR w * bpow radix2 l = IZR (z * 2 ^ (k - l) + w) * bpow radix2 l)%R).
  { intros z w k l Hz Hw Hk. split.
    - assert (0 < 2 ^ (k - l) <= 2 ^ 192) by (split; [apply pow_pos; lia|apply Z.pow_le_mono_r; lia]). nia.
    - rewrite plus_IZR, mult_IZR. replace (IZR (2 ^ (k - l))) with (bpow radix2 (k - l))
        by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
      rewrite Rmult_plus_distr_r, Rmult_assoc, <- bpow_plus. replace (k - l + l) with k by lia. reflexivity. }
  unfold shlInt. destruct (Z.leb_spec 0 (e - f)) as [G|G].
  - destruct (Z.ltb_spec FAR (e - f)) as [T|T].
    + apply (with_type canonical_rounds); [assumption|assumption|]. rewrite Vx, Vy. apply absorbed; try lia.
      apply Far; assumption.
    + destruct (Near x y e f Bx By ltac:(lia)) as [N V]. rewrite Vx, Vy, V.
      rewrite (int_small (x * _)), int_small by lia. apply roundSigned_rounds; lia.
  - rewrite (int_small (- (e - f))) by lia. destruct (Z.ltb_spec (e - f) (- FAR)) as [T|T].
    + apply (with_type canonical_rounds); [assumption|assumption|]. rewrite Vx, Vy, Rplus_comm. apply absorbed; try lia.
      apply Far; try assumption; lia.
    + replace (- (e - f)) with (f - e) by lia.
      destruct (Near y x f e By Bx ltac:(lia)) as [N V]. rewrite Vx, Vy, Rplus_comm, V.
      rewrite (int_small (y * _)), int_small by lia. rewrite (Z.add_comm x). apply roundSigned_rounds; lia.
Qed.

Lemma canonical_infinite : forall a, isWord a -> isInfiniteWord a = true ->
  canonical a = signed (isNegativeWord a) INFINITY.
Proof.
  intros a Ha Hi. rewrite (with_type canonical_is) by assumption. apply Z.eqb_eq in Hi.
  destruct (with_type bounds) as (_ & _ & _ & I & _). unfold Decode.isNaNWord. rewrite Hi, Z.ltb_irrefl.
  replace (INFINITY =? 0) with false by (symmetry; apply Z.eqb_neq; lia).
  rewrite <- Hi. apply (with_type word_is). exact Ha.
Qed.

(* NaN for a NaN and for infinities of both signs; an infinity; else the real sum, rounded once. *)
Theorem add_correct : forall a b, isWord a -> isWord b ->
  if isNaN a || isNaN b then addWords a b = NAN
  else if isFinite a && isFinite b then rounds_to (realOf a + realOf b) (addWords a b)
  else if negb (isFinite a) && negb (isFinite b) && xorb (isNegative a) (isNegative b) then addWords a b = NAN
  else addWords a b = signed (if isFinite a then isNegative b else isNegative a) INFINITY.
Proof.
  intros a b Ha Hb. unfold addWords. rewrite (with_type isNegative_lxor).
  destruct (with_type cases a Ha) as [(-> & _ & -> & _)|[(-> & -> & -> & I & -> & _)|(-> & -> & -> & -> & -> & Fa)]];
    [reflexivity| |];
  (destruct (with_type cases b Hb) as [(-> & _ & -> & _)|[(-> & -> & -> & J & -> & _)|(-> & -> & -> & -> & -> & Fb)]];
    [reflexivity| |]); cbn [orb andb negb]; rewrite ?I, ?J; cbn [andb].
  - destruct (isNegativeWord a) eqn:Sa, (isNegativeWord b) eqn:Sb; cbn [xorb]; try reflexivity;
      rewrite canonical_infinite, Sa by assumption; reflexivity.
  - apply canonical_infinite; assumption.
  - apply canonical_infinite; assumption.
  - apply addFinite_rounds; assumption.
Qed.

(* The other sign. *)
Lemma flipped : forall b, isWord b -> let c := Z.lxor b SIGN in
  isWord c /\ magnitudeBits c = magnitudeBits b /\ isNegativeWord c = negb (isNegativeWord b) /\
  isNaN c = isNaN b /\ isFinite c = isFinite b /\ (isNaN b = false -> isNegative c = negb (isNegative b)) /\
  (isFinite b = true -> realOf c = - realOf b)%R.
Proof.
  intros b Hb c. destruct (with_type word_is b Hb) as [E R]. destruct (with_type bounds) as (_ & _ & _ & I & _ & HS & _).
  set (s := isNegativeWord b) in *. set (m := magnitudeBits b) in *.
  assert (A : Z.lxor m SIGN = m + SIGN).
  { symmetry. apply Z.add_nocarry_lxor. rewrite Z.land_comm, HS, <- (Z.mul_1_l (2 ^ (mw + ew))). apply land_disjoint; lia. }
  assert (C : c = signed (negb s) m).
  { unfold c. rewrite E. unfold Format.signed. destruct s; cbn [negb]; [|exact A].
    rewrite <- A, Z.lxor_assoc, Z.lxor_nilpotent. apply Z.lxor_0_r. }
  clearbody c. destruct (with_type parts_signed (negb s) m R) as [Mc Sc]. rewrite <- C in Mc, Sc.
  assert (Wc : isWord c) by (rewrite C; apply (with_type signed_range); assumption).
  destruct (with_type kinds c Wc) as (N1 & F1 & S1 & _). destruct (with_type kinds b Hb) as (N2 & F2 & S2 & _).
  unfold Decode.isNaNWord in *. rewrite Mc in N1, F1, S1. fold m in N2, F2, S2. fold s in S2. rewrite Sc in S1.
  split; [assumption|]. split; [assumption|]. split; [assumption|]. split; [congruence|]. split; [congruence|].
  split; [intros K; rewrite S1, S2 by congruence; reflexivity|].
  intros K. rewrite F2 in K. apply Z.ltb_lt in K.
  destruct (finite_word mw ew Hmw Hew Hmax (negb s) m ltac:(lia)) as (_ & _ & V1 & _).
  destruct (finite_word mw ew Hmw Hew Hmax s m ltac:(lia)) as (_ & _ & V2 & _).
  rewrite <- C in V1. rewrite <- E in V2. rewrite V1, V2. destruct s; cbn [negb]; ring.
Qed.

Theorem sub_correct : forall a b, isWord a -> isWord b ->
  if isNaN a || isNaN b then subWords a b = NAN
  else if isFinite a && isFinite b then rounds_to (realOf a - realOf b) (subWords a b)
  else if negb (isFinite a) && negb (isFinite b) && eqb (isNegative a) (isNegative b) then subWords a b = NAN
  else subWords a b = signed (if isFinite a then negb (isNegative b) else isNegative a) INFINITY.
Proof.
  intros a b Ha Hb. destruct (flipped b Hb) as (Hc & _ & _ & N & F & S & V). unfold subWords.
  pose proof (add_correct a (Z.lxor b SIGN) Ha Hc) as A. rewrite N, F in A.
  destruct (isNaN a); [exact A|]. destruct (isNaN b); [exact A|]. cbn [orb] in *. rewrite S in A by reflexivity.
  destruct (isFinite a), (isFinite b); cbn [andb negb] in *; try exact A.
  - rewrite V in A by reflexivity. exact A.
  - destruct (isNegative a), (isNegative b); exact A.
Qed.

(* NaN for a NaN and for zero by infinity; an infinity with the sign of the product; else the real product. *)
Theorem mul_correct : forall a b, isWord a -> isWord b ->
  if isNaN a || isNaN b then mulWords a b = NAN
  else if isFinite a && isFinite b then rounds_to (realOf a * realOf b) (mulWords a b)
  else if isZero a || isZero b then mulWords a b = NAN
  else mulWords a b = signed (xorb (isNegative a) (isNegative b)) INFINITY.
Proof.
  intros a b Ha Hb. rewrite !isZero_bits by assumption. unfold mulWords. rewrite (with_type isNegative_lxor).
  destruct (with_type cases a Ha) as [(-> & _ & -> & _)|[(-> & -> & -> & -> & -> & _)|(-> & -> & -> & -> & -> & Fa)]];
    [reflexivity| |];
  (destruct (with_type cases b Hb) as [(-> & _ & -> & _)|[(-> & -> & -> & -> & -> & _)|(-> & -> & -> & -> & -> & Fb)]];
    [reflexivity| |]); cbn [orb andb].
  1-3: destruct (_ || _); [reflexivity|apply (with_type infinityOf_is)].
  destruct (with_type bounds) as (P & Hh & Hl & _).
  destruct (with_type decode_finite a Ha Fa) as (x & e & -> & Bx & Be & _ & _ & ->).
  destruct (with_type decode_finite b Hb Fb) as (y & f & -> & By & Bf & _ & _ & ->).
  assert (2 ^ (mw + 1) <= 2 ^ 54) by (apply Z.pow_le_mono_r; lia).
  rewrite mul_small by (unfold W; nia). rewrite int_small by lia.
  set (s := xorb _ _).
  match goal with |- Format.rounds_to _ _ _ _ _ ?r _ =>
    replace r with (if s then - (IZR (x * y) * bpow radix2 (e + f)) else IZR (x * y) * bpow radix2 (e + f))%R end.
  - apply (roundTo_correct mw ew Hmw Hew Hmax ltac:(lia) ltac:(lia) s (x * y) (e + f) false); try lia; try reflexivity; unfold W; nia.
  - unfold s. rewrite bpow_plus, mult_IZR. destruct (isNegativeWord a), (isNegativeWord b); cbn [xorb]; ring.
Qed.

(* x/0 is the infinity with the sign of x: the zero has none. *)
Theorem div_correct : forall a b, isWord a -> isWord b ->
  if isNaN a || isNaN b then divWords a b = NAN
  else if isFinite b then
    if isZero b then
      if isZero a then divWords a b = NAN else divWords a b = signed (isNegative a) INFINITY
    else if isFinite a then rounds_to (realOf a / realOf b) (divWords a b)
    else divWords a b = signed (xorb (isNegative a) (isNegative b)) INFINITY
  else if isFinite a then divWords a b = 0 else divWords a b = NAN.
Proof.
  intros a b Ha Hb. rewrite !isZero_bits by assumption. unfold divWords. rewrite (with_type isNegative_lxor).
  destruct (with_type cases a Ha) as [(Na & _ & Ka & _)|[(Na & Qa & Ka & Ia & Sa & _)|(Na & Qa & Ka & Ia & Sa & Fa)]];
    rewrite Na, Ka; [reflexivity| |];
  (destruct (with_type cases b Hb) as [(Nb & _ & Kb & _)|[(Nb & Qb & Kb & Ib & Sb & _)|(Nb & Qb & Kb & Ib & Sb & Fb)]];
    rewrite Nb, Kb; [reflexivity| |]); rewrite ?Qa, ?Qb, ?Ia, ?Ib, ?Sa, ?Sb; cbn [orb andb]; try reflexivity.
  - destruct (magnitudeBits b =? 0); [|apply (with_type infinityOf_is)].
    destruct (magnitudeBits a =? 0); [reflexivity|apply (with_type infinityOf_is)].
  - destruct (Z.eqb_spec (magnitudeBits b) 0) as [Zb|Zb].
    { destruct (magnitudeBits a =? 0); [reflexivity|apply (with_type infinityOf_is)]. }
    destruct (with_type bounds) as (P & Hh & Hl & _).
    destruct (with_type decode_finite a Ha Fa) as (x & e & -> & Bx & Be & _ & _ & ->).
    destruct (with_type decode_finite b Hb Fb) as (y & f & -> & By & Bf & Hy & _ & ->).
    assert (y <> 0) by tauto.
    assert (T : 2 ^ (mw + 1) <= 2 ^ 54) by (apply Z.pow_le_mono_r; lia).
    assert (T2 : 2 ^ (mw + 1) * 2 ^ (mw + 1) <= 2 ^ SHIFT <= 2 ^ 108)
      by (rewrite <- Z.pow_add_r by lia; split; apply Z.pow_le_mono_r; lia).
    assert (x * 2 ^ SHIFT < 2 ^ 54 * 2 ^ 108) by nia.
    rewrite shl_small by (unfold W; lia). rewrite (int_small (e - SHIFT)), int_small by lia. set (X := x * 2 ^ SHIFT).
    pose proof (Z.div_mod X y ltac:(lia)) as D. pose proof (Z.mod_pos_bound X y ltac:(lia)) as R.
    set (q := X / y) in *. set (r := X mod y) in *. clearbody q r.
    assert (Hy0 : (0 < IZR y)%R) by (apply IZR_lt; lia).
    assert (HX : (IZR x / IZR y = (IZR q + IZR r / IZR y) * bpow radix2 (- SHIFT))%R).
    { assert (K : (IZR x * bpow radix2 SHIFT = IZR y * IZR q + IZR r)%R).
      { replace (bpow radix2 SHIFT) with (IZR (2 ^ SHIFT)) by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity). rewrite <- mult_IZR. fold X. rewrite D, plus_IZR, mult_IZR. reflexivity. }
      assert (B : (bpow radix2 SHIFT * bpow radix2 (- SHIFT) = 1)%R) by (rewrite <- bpow_plus, Z.add_opp_diag_r; reflexivity).
      replace (IZR x) with (IZR x * (bpow radix2 SHIFT * bpow radix2 (- SHIFT)))%R by (rewrite B; ring).
      rewrite <- Rmult_assoc, K. field. lra. }
    set (v := ((IZR q + IZR r / IZR y) * bpow radix2 (e - SHIFT - f))%R).
    assert (HV : v = (IZR x * bpow radix2 e / (IZR y * bpow radix2 f))%R).
    { unfold v. replace (e - SHIFT - f) with (- SHIFT + (e + - f)) by lia. rewrite (bpow_plus radix2 (- SHIFT)), <- Rmult_assoc, <- HX.
      rewrite bpow_plus, bpow_opp. field. split; [apply Rgt_not_eq, bpow_gt_0|lra]. }
    set (s := xorb _ _).
    match goal with |- Format.rounds_to _ _ _ _ _ ?z _ => replace z with (if s then - v else v)%R end.
    + assert (HB : (0 < bpow radix2 (e - SHIFT - f))%R) by apply bpow_gt_0.
      assert (Hq0 : 0 <= q) by nia.
      apply (roundTo_correct mw ew Hmw Hew Hmax ltac:(lia) ltac:(lia) s q (e - SHIFT - f) (negb (r =? 0)) v); try lia.
      * split; [lia|]. unfold W. unfold X in D. nia.
      * unfold v. destruct (Z.eqb_spec r 0) as [Zr|Zr]; cbn [negb].
        -- rewrite Zr. unfold Rdiv. rewrite Rmult_0_l, Rplus_0_r. reflexivity.
        -- rewrite plus_IZR.
           assert (0 < IZR r / IZR y < 1)%R.
           { assert (0 < IZR r)%R by (apply IZR_lt; lia). assert (IZR r < IZR y)%R by (apply IZR_lt; lia). split.
             - apply Rdiv_lt_0_compat; lra.
             - apply Rmult_lt_reg_r with (IZR y); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. lra. }
           split; apply Rmult_lt_compat_r; lra.
      * intros K. left. apply negb_true_iff, Z.eqb_neq in K.
        assert (x <> 0) by (intros ->; unfold X in D; rewrite Z.mul_0_l in D; nia).
        assert (2 ^ SHIFT <= X) by (unfold X; nia).
        destruct (Z.le_gt_cases (2 ^ (mw + 1)) q) as [L|L]; [assumption|exfalso].
        assert (y * q + r < 2 ^ (mw + 1) * 2 ^ (mw + 1)) by nia. lia.
    + rewrite HV. unfold s.
      assert (bpow radix2 f <> 0)%R by (apply Rgt_not_eq, bpow_gt_0).
      destruct (isNegativeWord a), (isNegativeWord b); cbn [xorb]; field; split; lra.
Qed.

(* By Flocq's comparison: None for NaN. *)
Lemma order_compares : forall a b, isWord a -> isWord b -> isNaNWord a = false -> isNaNWord b = false ->
  compared a b = Some (order a ?= order b).
Proof.
  intros a b Ha Hb Na Nb. rewrite !(with_type order_is) by assumption. unfold compared.
  destruct (with_type word_is a Ha) as [_ Ra]. destruct (with_type word_is b Hb) as [_ Rb].
  destruct (with_type bounds) as (P & _ & _ & I & _).
  destruct (with_type cases a Ha) as [(_ & _ & K & _)|[(_ & _ & _ & _ & _ & Ma & Ea)|(_ & Fa & _ & _ & _ & Ma)]];
    [congruence| |];
  (destruct (with_type cases b Hb) as [(_ & _ & K & _)|[(_ & _ & _ & _ & _ & Mb & Eb)|(_ & Fb & _ & _ & _ & Mb)]];
    [congruence| |]).
  - rewrite Ea, Eb, Ma, Mb. unfold Bcompare, BinarySingleNaN.Bcompare; cbn.
    destruct (isNegativeWord a), (isNegativeWord b); cbn; f_equal; symmetry;
      try apply Z.compare_refl; [apply Z.compare_lt_iff|apply Z.compare_gt_iff]; lia.
  - rewrite Ea, Ma. unfold Format.isFinite in Fb. 
    assert (Some (if isNegativeWord a then Lt else Gt) = Bcompare prec emax (B754_infinity prec emax (isNegativeWord a)) (floatOf b))
      as <- by (destruct (floatOf b); try discriminate; destruct (isNegativeWord a); reflexivity).
    f_equal. symmetry. destruct (isNegativeWord a), (isNegativeWord b); [apply Z.compare_lt_iff|apply Z.compare_lt_iff
      |apply Z.compare_gt_iff|apply Z.compare_gt_iff]; lia.
  - rewrite Eb, Mb. unfold Format.isFinite in Fa. 
    assert (Some (if isNegativeWord b then Gt else Lt) = Bcompare prec emax (floatOf a) (B754_infinity prec emax (isNegativeWord b)))
      as <- by (destruct (floatOf a); try discriminate; destruct (isNegativeWord b); reflexivity).
    f_equal. symmetry. destruct (isNegativeWord a), (isNegativeWord b); [apply Z.compare_gt_iff|apply Z.compare_lt_iff
      |apply Z.compare_gt_iff|apply Z.compare_lt_iff]; lia.
  - rewrite Bcompare_correct by assumption. f_equal.
    destruct (finite_word mw ew Hmw Hew Hmax (isNegativeWord a) (magnitudeBits a) ltac:(lia)) as (_ & _ & Va & _).
    destruct (finite_word mw ew Hmw Hew Hmax (isNegativeWord b) (magnitudeBits b) ltac:(lia)) as (_ & _ & Vb & _).
    rewrite <- (proj1 (with_type word_is a Ha)) in Va. rewrite <- (proj1 (with_type word_is b Hb)) in Vb.
    unfold Format.realOf in Va, Vb. rewrite Va, Vb, !(with_type magnitude_units) by lia.
    set (m := magnitudeBits a) in *. set (n := magnitudeBits b) in *. clearbody m n.
    assert (U0 : unitsOfBits 0 = 0) by (unfold Decode.unitsOfBits; rewrite Z.div_0_l, Z.mod_0_l by lia; reflexivity).
    assert (Um : 0 < m -> 0 < unitsOfBits m) by (intros; rewrite <- U0; apply (with_type units_increase); lia).
    assert (Un : 0 < n -> 0 < unitsOfBits n) by (intros; rewrite <- U0; apply (with_type units_increase); lia).
    assert (Lmn : m < n -> unitsOfBits m < unitsOfBits n) by (intros; apply (with_type units_increase); lia).
    assert (Lnm : n < m -> unitsOfBits n < unitsOfBits m) by (intros; apply (with_type units_increase); lia).
    assert (Em : m = n -> unitsOfBits m = unitsOfBits n) by congruence.
    assert (Zm : m = 0 -> unitsOfBits m = 0) by congruence. assert (Zn : n = 0 -> unitsOfBits n = 0) by congruence.
    transitivity ((if isNegativeWord a then - unitsOfBits m else unitsOfBits m) ?=
      (if isNegativeWord b then - unitsOfBits n else unitsOfBits n)).
    + rewrite <- Rcompare_IZR. rewrite <- (Rcompare_mult_r (bpow radix2 lowest) (IZR _) (IZR _)) by apply bpow_gt_0.
      f_equal; [destruct (isNegativeWord a)|destruct (isNegativeWord b)]; rewrite ?opp_IZR; ring.
    + generalize dependent (unitsOfBits m). generalize dependent (unitsOfBits n). intros v Un Zn u Um Lmn Lnm Em Zm.
      destruct (isNegativeWord a), (isNegativeWord b);
        match goal with |- (?p ?= ?q) = (?r ?= ?t) => destruct (Z.compare_spec r t), (Z.compare_spec p q) end;
        try reflexivity; exfalso; lia.
Qed.

Lemma compared_NaN : forall a b, isWord a -> isWord b -> isNaNWord a = true \/ isNaNWord b = true -> compared a b = None.
Proof.
  intros a b Ha Hb H. destruct (with_type kinds a Ha) as (Na & _). destruct (with_type kinds b Hb) as (Nb & _).
  rewrite <- Na, <- Nb in H. unfold Format.isNaN in H. unfold compared.
  destruct (floatOf a), (floatOf b), H; try discriminate; reflexivity.
Qed.

Theorem lt_correct : forall a b, isWord a -> isWord b ->
  ltWords a b = match compared a b with Some Lt => 1 | _ => 0 end.
Proof.
  intros a b Ha Hb. unfold ltWords. destruct (isNaNWord a) eqn:Na; [rewrite compared_NaN; auto|].
  destruct (isNaNWord b) eqn:Nb; [rewrite compared_NaN; auto|]. rewrite order_compares by assumption.
  unfold Z.ltb. destruct (_ ?= _); reflexivity.
Qed.

Theorem le_correct : forall a b, isWord a -> isWord b ->
  leWords a b = match compared a b with Some Lt | Some Eq => 1 | _ => 0 end.
Proof.
  intros a b Ha Hb. unfold leWords. destruct (isNaNWord a) eqn:Na; [rewrite compared_NaN; auto|].
  destruct (isNaNWord b) eqn:Nb; [rewrite compared_NaN; auto|]. rewrite order_compares by assumption.
  unfold Z.leb. destruct (_ ?= _); reflexivity.
Qed.

Theorem eq_correct : forall a b, isWord a -> isWord b ->
  eqWords a b = match compared a b with Some Eq => 1 | _ => 0 end.
Proof.
  intros a b Ha Hb. unfold eqWords. destruct (isNaNWord a) eqn:Na; [rewrite compared_NaN; auto|].
  destruct (isNaNWord b) eqn:Nb; [rewrite compared_NaN; auto|]. rewrite order_compares by assumption.
  rewrite Z.eqb_compare. destruct (_ ?= _); reflexivity.
Qed.

(* The word without a negative zero and with one NaN: the word that Flocq has for the number of the word. *)
Theorem canonical_correct : forall a, isWord a -> canonical a = wordOf (floatOf a).
Proof.
  intros a Ha. destruct (with_type cases a Ha) as [(N & _ & K & _)|[(_ & _ & _ & I & _ & M & E)|(_ & F & K & _ & _ & M)]].
  - rewrite (with_type canonical_is), K by assumption. unfold Format.isNaN in N. destruct (floatOf a); try discriminate. reflexivity.
  - rewrite canonical_infinite by assumption. symmetry. apply (wordOf_infinite mw ew Hmw Hew Hmax). rewrite E. reflexivity.
  - apply (rounds_to_unique mw ew Hmw Hew Hmax (realOf a)).
    + apply (with_type canonical_rounds); try assumption. apply (with_type rounded_word).
    + apply wordOf_rounds. rewrite (with_type rounded_word). unfold Format.realOf.
      rewrite Rlt_bool_true by apply abs_B2R_lt_emax. split; [reflexivity|exact F].
Qed.

Theorem min_correct : forall a b, isWord a -> isWord b ->
  minWords a b = match compared a b with None => NAN | Some Lt => wordOf (floatOf a) | _ => wordOf (floatOf b) end.
Proof.
  intros a b Ha Hb. unfold minWords. destruct (isNaNWord a) eqn:Na; [rewrite compared_NaN; auto|].
  destruct (isNaNWord b) eqn:Nb; [rewrite compared_NaN; auto|]. rewrite order_compares by assumption. cbn [orb].
  unfold Z.ltb. destruct (_ ?= _); apply canonical_correct; assumption.
Qed.

Theorem max_correct : forall a b, isWord a -> isWord b ->
  maxWords a b = match compared a b with None => NAN | Some Lt => wordOf (floatOf b) | _ => wordOf (floatOf a) end.
Proof.
  intros a b Ha Hb. unfold maxWords. destruct (isNaNWord a) eqn:Na; [rewrite compared_NaN; auto|].
  destruct (isNaNWord b) eqn:Nb; [rewrite compared_NaN; auto|]. rewrite order_compares by assumption. cbn [orb].
  unfold Z.ltb. destruct (_ ?= _); apply canonical_correct; assumption.
Qed.

Theorem neg_correct : forall a, isWord a ->
  if isNaN a then negWord a = NAN
  else if isFinite a then rounds_to (- realOf a) (negWord a)
  else negWord a = signed (negb (isNegative a)) INFINITY.
Proof.
  intros a Ha. destruct (flipped a Ha) as (Hc & M & S & N & F & _ & V). unfold negWord.
  destruct (with_type cases a Ha) as [(A & _ & K & _)|[(A & B & _ & I & D & _)|(A & B & K & _ & _ & L)]]; rewrite A; rewrite ?B.
  - rewrite (with_type canonical_is) by assumption. unfold Decode.isNaNWord in *. rewrite M, K. reflexivity.
  - rewrite D, <- S. apply canonical_infinite; [assumption|]. unfold Decode.isInfiniteWord in *. rewrite M. assumption.
  - rewrite <- V by assumption. apply (with_type canonical_rounds); [assumption|lia|apply (with_type rounded_word)].
Qed.

Theorem abs_correct : forall a, isWord a ->
  if isNaN a then absWord a = NAN
  else if isFinite a then rounds_to (Rabs (realOf a)) (absWord a)
  else absWord a = INFINITY.
Proof.
  intros a Ha. destruct (with_type word_is a Ha) as [E R]. destruct (with_type parts_signed false _ R) as [M S].
  unfold Format.signed in M, S. pose proof (with_type signed_range false _ R) as Hc. unfold Format.signed in Hc. unfold absWord.
  destruct (with_type cases a Ha) as [(A & _ & K & _)|[(A & B & _ & I & D & J & _)|(A & B & K & _ & _ & L)]]; rewrite A; rewrite ?B.
  - rewrite (with_type canonical_is) by assumption. unfold Decode.isNaNWord in *. rewrite M, K. reflexivity.
  - rewrite canonical_infinite; [rewrite S; reflexivity|assumption|]. unfold Decode.isInfiniteWord in *. rewrite M. assumption.
  - apply (with_type canonical_rounds); [assumption|lia|].
    assert (V : Rabs (realOf a) = realOf (magnitudeBits a)).
    { destruct (finite_word mw ew Hmw Hew Hmax (isNegativeWord a) (magnitudeBits a) ltac:(lia)) as (_ & _ & V1 & _).
      destruct (finite_word mw ew Hmw Hew Hmax false (magnitudeBits a) ltac:(lia)) as (_ & _ & V2 & _).
      rewrite <- E in V1. unfold Format.signed in V2. rewrite V1, V2.
      assert (0 <= magnitude mw ew (magnitudeBits a))%R.
      { rewrite (with_type magnitude_units) by lia. apply Rmult_le_pos; [apply IZR_le|apply bpow_ge_0].
        destruct (Z.eq_dec (magnitudeBits a) 0) as [->|Q]; [|pose proof (with_type units_increase 0 (magnitudeBits a) ltac:(lia))];
          assert (U0 : unitsOfBits 0 = 0) by (unfold Decode.unitsOfBits; destruct (with_type bounds) as (P & _);
            rewrite Z.div_0_l, Z.mod_0_l by lia; reflexivity); lia. }
      destruct (isNegativeWord a); [rewrite Rabs_Ropp|]; apply Rabs_pos_eq; assumption. }
    rewrite V. apply (with_type rounded_word).
Qed.

End Arithmetic.
