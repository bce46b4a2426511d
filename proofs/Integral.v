(* SPDX-License-Identifier: MIT *)
(* Float32.sol: floor, ceil, round and sign: the integer by Flocq's Zfloor, Zceil and ZnearestE. *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Decode Arithmetic Sum Products Dot Mul Float32.
Open Scope Z_scope.

Definition ONE := 0x3f800000.
Definition NEG_ONE := 0xbf800000.

(* Float32.isIntegral, decodeFraction, floor, ceil, round, sign *)
Definition isIntegral (a : Z) := 0x4b000000 <=? Z.land a MAGNITUDE.
Definition decodeFraction (a : Z) : Z * Z :=
  let '(mantissa, exponent) := decodeSigned32 a in (mantissa, uint (int (- exponent))).
Definition floor32 (a : Z) : Z :=
  if isIntegral a then canonical32 a else
  let '(mantissa, places) := decodeFraction a in roundSigned32 (sar places mantissa) 0.
Definition ceil32 (a : Z) : Z :=
  if isIntegral a then canonical32 a else
  let '(mantissa, places) := decodeFraction a in roundSigned32 (int (- sar places (int (- mantissa)))) 0.
Definition round32 (a : Z) : Z :=
  if isIntegral a then canonical32 a else
  let '(mantissa, places) := decodeFraction a in
  let below := sar places mantissa in
  let twiceRest := shl 1 (uint (int (mantissa - shlInt places below))) in
  let one := shl places 1 in
  let below := if (one <? twiceRest) || ((one =? twiceRest) && (Z.land below 1 =? 1)) then int (below + 1) else below in
  roundSigned32 below 0.
Definition sign32 (a : Z) : Z :=
  if isNaN32 a then NAN32 else if isZero32 a then 0 else if isNegative32 a then NEG_ONE else ONE.

(* A function that takes the real of a word to an integer; infinities stay, and NaN. *)
Definition rounds_to_integer (integer : R -> Z) (f : Z -> Z) : Prop := forall a, word32 a ->
  if nan32 a then f a = NAN32
  else if finite32 a then rounds_to32 (IZR (integer (real32 a))) (f a)
  else f a = infinity32 (negative32 a).

Lemma canonical_rounds : forall a, word32 a -> finite32 a = true -> rounds_to32 (real32 a) (canonical32 a).
Proof.
  intros a Ha F. change canonical32 with (canonical 23 8).
  rewrite (with32 canonical_correct 64 ltac:(lia) 50 ltac:(lia)) by exact Ha. apply wordOf_rounds.
  unfold rounded. rewrite round_generic; [|apply valid_rnd_N|apply generic_format_B2R].
  rewrite Rlt_bool_true by apply abs_B2R_lt_emax. split; [reflexivity|exact F].
Qed.

Lemma roundSigned32_integer : forall z, - 2 ^ 30 <= z <= 2 ^ 30 -> rounds_to32 (IZR z) (roundSigned32 z 0).
Proof.
  intros z Hz. rewrite roundSigned_same by lia. replace (IZR z) with (IZR z * bpow radix2 0)%R by (simpl; ring).
  apply (with32 roundSigned_rounds 64 ltac:(lia) 50 ltac:(lia)); lia.
Qed.

(* A finite word is an integer, or has places behind the point. *)
Lemma integral_parts : forall a, word32 a -> finite32 a = true ->
  (isIntegral a = true /\ exists n, real32 a = IZR n) \/
  (isIntegral a = false /\ exists m p, decodeFraction a = (m, p) /\ 0 < p <= 149 /\ - 2 ^ 24 < m < 2 ^ 24 /\
    real32 a = (IZR m / IZR (2 ^ p))%R).
Proof.
  intros a Ha F. destruct (with32 cases a Ha) as [(_ & K & _)|[(_ & K & _)|(_ & _ & _ & _ & _ & L)]]; try congruence.
  destruct (with32 decodeSigned_finite a Ha L) as (m & e & D & Bm & Be & _ & _ & V).
  rewrite <- decodeSigned_same in D by exact Ha. change (23 + 1) with 24 in Bm.
  assert (E : e = exponentOf a - 150).
  { unfold decodeSigned32 in D. rewrite decode_parts in D by exact Ha. injection D as _ <-. reflexivity. }
  pose proof (fieldOf_range a) as R. pose proof (magnitude_parts a) as M. pose proof (Z.mod_pos_bound a (2 ^ 23) ltac:(lia)) as Q.
  unfold isIntegral. rewrite land_MAGNITUDE, M. change 1258291200 with (150 * 2 ^ 23).
  unfold exponentOf in E. destruct (Z.leb_spec (150 * 2 ^ 23) (fieldOf a * 2 ^ 23 + a mod 2 ^ 23)) as [I|I].
  - left. split; [reflexivity|]. destruct (Z.eqb_spec (fieldOf a) 0); [lia|]. exists (m * 2 ^ e).
    rewrite V, mult_IZR, (IZR_Zpower radix2) by lia. reflexivity.
  - right. split; [reflexivity|]. assert (N : -149 <= e < 0) by (destruct (Z.eqb_spec (fieldOf a) 0); lia).
    exists m, (- e). unfold decodeFraction. rewrite D. rewrite int_small, uint_small by (unfold W; lia).
    repeat split; try lia. rewrite V. unfold Rdiv. f_equal. rewrite (IZR_Zpower radix2) by lia.
    rewrite <- bpow_opp. f_equal. lia.
Qed.

Lemma special_kept : forall (f : Z -> Z) a, word32 a -> f a = canonical32 a ->
  if nan32 a then f a = NAN32 else if finite32 a then True else f a = infinity32 (negative32 a).
Proof.
  intros f a Ha ->. change canonical32 with (canonical 23 8).
  destruct (with32 cases a Ha) as [(N & _ & K & _)|[(N & F & _ & I & S & _)|(N & F & _)]]; rewrite N, ?F.
  - rewrite (with32 canonical_is) by exact Ha. rewrite K. reflexivity.
  - rewrite (with32 canonical_infinite 64 ltac:(lia) 50 ltac:(lia)) by assumption. rewrite S. apply infinity_same.
  - exact Logic.I.
Qed.

(* What is left to prove of such a function. *)
Lemma by_places : forall integer f, (forall n, integer (IZR n) = n) ->
  (forall a, isIntegral a = true -> f a = canonical32 a) ->
  (forall a m p, isIntegral a = false -> decodeFraction a = (m, p) -> 0 < p <= 149 -> - 2 ^ 24 < m < 2 ^ 24 ->
    rounds_to32 (IZR (integer (IZR m / IZR (2 ^ p))%R)) (f a)) ->
  rounds_to_integer integer f.
Proof.
  intros integer f HZ HI HF a Ha. destruct (isIntegral a) eqn:I.
  - pose proof (special_kept f a Ha (HI a I)) as S. destruct (nan32 a); [exact S|]. destruct (finite32 a) eqn:F; [|exact S].
    rewrite HI by exact I. destruct (integral_parts a Ha F) as [(_ & n & V)|(K & _)]; [|congruence].
    rewrite V, HZ, <- V. apply canonical_rounds; assumption.
  - assert (F : finite32 a = true).
    { rewrite (proj1 (proj2 (with32 kinds a Ha))). unfold isIntegral in I. apply Z.leb_gt in I. apply Z.ltb_lt.
      change (magnitudeBits 23 8 a) with (Z.land a MAGNITUDE). change (INFINITY 23 8) with 2139095040. lia. }
    destruct (with32 cases a Ha) as [(_ & K & _)|[(_ & K & _)|(N & _)]]; try congruence. rewrite N, F.
    destruct (integral_parts a Ha F) as [(K & _)|(_ & m & p & D & P & B & V)]; [congruence|]. rewrite V. apply HF; assumption.
Qed.

Lemma fraction_parts : forall a, word32 a -> isIntegral a = false ->
  exists m p, decodeFraction a = (m, p) /\ 0 < p <= 149 /\ - 2 ^ 24 < m < 2 ^ 24.
Proof.
  intros a Ha I. assert (F : finite32 a = true).
  { rewrite (proj1 (proj2 (with32 kinds a Ha))). unfold isIntegral in I. apply Z.leb_gt in I. apply Z.ltb_lt.
    change (magnitudeBits 23 8 a) with (Z.land a MAGNITUDE). change (INFINITY 23 8) with 2139095040. lia. }
  destruct (integral_parts a Ha F) as [(K & _)|(_ & m & p & D & P & B & _)]; [congruence|]. exists m, p. auto.
Qed.

Lemma below_small : forall m p, 0 < p -> - 2 ^ 24 < m < 2 ^ 24 -> - 2 ^ 24 <= m / 2 ^ p < 2 ^ 24.
Proof.
  intros m p Hp Hm. assert (0 < 2 ^ p) by (apply pow_pos; lia).
  split; [apply Z.div_le_lower_bound|apply Z.div_lt_upper_bound]; nia.
Qed.

Theorem floor_correct32 : rounds_to_integer Zfloor floor32.
Proof.
  apply by_places; [apply Zfloor_IZR|intros a I; unfold floor32; rewrite I; reflexivity|].
  intros a m p I D P B. unfold floor32. rewrite I, D. unfold sar.
  rewrite Zfloor_div by (pose proof (pow_pos p); lia). pose proof (below_small m p ltac:(lia) B).
  apply roundSigned32_integer. lia.
Qed.

Theorem ceil_correct32 : rounds_to_integer Zceil ceil32.
Proof.
  apply by_places; [apply Zceil_IZR|intros a I; unfold ceil32; rewrite I; reflexivity|].
  intros a m p I D P B. unfold ceil32. rewrite I, D. unfold sar, Zceil.
  rewrite (int_small (- m)) by lia. replace (- (IZR m / IZR (2 ^ p)))%R with (IZR (- m) / IZR (2 ^ p))%R
    by (rewrite opp_IZR; unfold Rdiv; ring).
  rewrite Zfloor_div by (pose proof (pow_pos p); lia). pose proof (below_small (- m) p ltac:(lia) ltac:(lia)).
  rewrite int_small by lia. apply roundSigned32_integer. lia.
Qed.

Lemma nearest_of_quotient : forall m q, 0 < q -> let r := m mod q in
  ZnearestE (IZR m / IZR q)%R = if (q <? 2 * r) || ((q =? 2 * r) && Z.odd (m / q)) then m / q + 1 else m / q.
Proof.
  intros m q Hq r. pose proof (Z.div_mod m q ltac:(lia)) as E. pose proof (Z.mod_pos_bound m q Hq) as B. fold r in E, B.
  unfold Znearest. rewrite Zfloor_div by lia. set (w := m / q) in *.
  assert (Q : (0 < IZR q)%R) by (apply IZR_lt; exact Hq).
  assert (X : (IZR m / IZR q - IZR w = IZR r / IZR q)%R) by (rewrite E at 1; rewrite plus_IZR, mult_IZR; field; apply Rgt_not_eq; exact Q).
  rewrite X.
  assert (C : Rcompare (IZR r / IZR q) (/ 2) = (2 * r ?= q)).
  { rewrite <- (Rcompare_mult_r (2 * IZR q)) by lra.
    replace (IZR r / IZR q * (2 * IZR q))%R with (IZR (2 * r)) by (rewrite mult_IZR; field; apply Rgt_not_eq; exact Q).
    replace (/ 2 * (2 * IZR q))%R with (IZR q) by field. apply Rcompare_IZR. }
  assert (U : (0 < r) -> Zceil (IZR m / IZR q)%R = w + 1).
  { intros Hr. rewrite Zceil_floor_neq; rewrite Zfloor_div by lia; [reflexivity|]. intros K.
    assert (0 < IZR r / IZR q)%R by (apply Rdiv_lt_0_compat; [apply IZR_lt; exact Hr|exact Q]). fold w in K. rewrite K in X. lra. }
  rewrite C. destruct (Z.compare_spec (2 * r) q) as [H|H|H].
  - replace (q <? 2 * r) with false by (symmetry; apply Z.ltb_ge; lia).
    replace (q =? 2 * r) with true by (symmetry; apply Z.eqb_eq; lia). cbn [orb andb].
    rewrite <- Z.negb_even. destruct (Z.even w); cbn [negb]; [reflexivity|apply U; lia].
  - replace (q <? 2 * r) with false by (symmetry; apply Z.ltb_ge; lia).
    replace (q =? 2 * r) with false by (symmetry; apply Z.eqb_neq; lia). reflexivity.
  - replace (q <? 2 * r) with true by (symmetry; apply Z.ltb_lt; lia). cbn [orb]. apply U. lia.
Qed.

Theorem round_correct32 : rounds_to_integer ZnearestE round32.
Proof.
  apply by_places; [intros; apply Zrnd_IZR; apply valid_rnd_N|intros a I; unfold round32; rewrite I; reflexivity|].
  intros a m p I D P B. unfold round32. rewrite I, D. unfold sar.
  assert (Hp : 0 < 2 ^ p) by (apply pow_pos; lia). assert (Hq : 2 ^ p <= 2 ^ 149) by (apply Z.pow_le_mono_r; lia).
  rewrite nearest_of_quotient by exact Hp. pose proof (below_small m p ltac:(lia) B) as S.
  pose proof (Z.div_mod m (2 ^ p) ltac:(lia)) as E. pose proof (Z.mod_pos_bound m (2 ^ p) Hp) as R.
  unfold shlInt. rewrite (int_small (m / 2 ^ p * 2 ^ p)) by nia.
  replace (m - m / 2 ^ p * 2 ^ p) with (m mod 2 ^ p) by lia. rewrite (int_small (m mod 2 ^ p)), uint_small by (unfold W; lia).
  rewrite (shl_small 1 (m mod _)) by (unfold W; lia). rewrite (shl_small p 1) by (unfold W; lia).
  rewrite Z.mul_1_l, (Z.mul_comm (m mod _)). change (2 ^ 1) with 2.
  assert (O : (Z.land (m / 2 ^ p) 1 =? 1) = Z.odd (m / 2 ^ p)).
  { change 1 with (2 ^ 1 - 1) at 1. rewrite land_ones_low by lia. change (2 ^ 1) with 2. rewrite Zmod_odd.
    destruct (Z.odd _); reflexivity. }
  rewrite O. destruct (_ || _); [rewrite int_small by lia|]; apply roundSigned32_integer; lia.
Qed.

(* The sign of the real: -1, 0 or 1. *)
Theorem sign_correct32 : forall a, word32 a ->
  if nan32 a then sign32 a = NAN32
  else if zero32 a then sign32 a = 0
  else sign32 a = (if negative32 a then NEG_ONE else ONE) /\ real32 NEG_ONE = (-1)%R /\ real32 ONE = 1%R.
Proof.
  intros a Ha. unfold sign32. change isNaN32 with (isNaNWord 23 8). change isNegative32 with (isNegativeWord 23 8).
  assert (Z : zero32 a = isZero32 a) by (rewrite zero_parts by exact Ha; unfold isZero32; rewrite land_MAGNITUDE; reflexivity).
  rewrite Z.
  assert (V : real32 NEG_ONE = (-1)%R /\ real32 ONE = 1%R).
  { destruct (finite_parts ONE ltac:(unfold ONE; lia) eq_refl) as (_ & _ & ->).
    destruct (finite_parts NEG_ONE ltac:(unfold NEG_ONE; lia) eq_refl) as (_ & _ & ->). split; cbv; lra || field. }
  destruct (with32 cases a Ha) as [(N & _ & K & _)|[(N & _ & K & _ & S & _)|(N & _ & K & _ & S & _)]];
    rewrite N, K, ?S; [reflexivity| |]; destruct (isZero32 a); try reflexivity; split; (reflexivity || exact V).
Qed.
