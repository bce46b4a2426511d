(* SPDX-License-Identifier: MIT *)
(* Float32.sqrt: the root of the real, rounded once. *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Decode Arithmetic Sum Products Dot Mul Float32.
Open Scope Z_scope.

(* Float32.mantissaSqrt, sqrt *)
Definition mantissaSqrt (value : Z) : Z :=
  let root := shl 24 3 in
  let root := shr 1 (add root (value / root)) in
  let root := shr 1 (add root (value / root)) in
  let root := shr 1 (add root (value / root)) in
  let root := shr 1 (add root (value / root)) in
  if value <? mul root root then sub root 1 else root.
Definition sqrt32 (a : Z) : Z :=
  if isNaN32 a then NAN32 else if isZero32 a then 0 else if isNegative32 a then NAN32
  else if isInfinite32 a then INFINITY32 else
  let '(mantissa, exponent) := Mul.decode a in
  let shift := sub (clz mantissa) 205 in
  let shift := if Z.land (Z.lxor (uint exponent) shift) 1 =? 1 then add shift 1 else shift in
  let square := shl shift mantissa in
  let root := mantissaSqrt square in
  roundToFloat32 false root (Z.quot (int (exponent - int shift)) 2) (negb (mul root root =? square)).

(* A step of Newton's: never below the root, and above by the square of the error. *)
Lemma newton : forall v s x, 0 < x -> 0 < s -> s * s <= v < (s + 1) * (s + 1) ->
  let y := (x + v / x) / 2 in s <= y /\ 2 * x * (y - s) <= (x - s) * (x - s) + 2 * s.
Proof.
  intros v s x Hx Hs Hv y. pose proof (Z.div_mod v x ltac:(lia)) as D. pose proof (Z.mod_pos_bound v x Hx) as M.
  set (q := v / x) in *. pose proof (Z.div_mod (x + q) 2 ltac:(lia)) as E. pose proof (Z.mod_pos_bound (x + q) 2 ltac:(lia)) as N.
  fold y in E. clearbody y q. split.
  - assert (2 * s <= x + q); [|lia]. destruct (Z.le_gt_cases (2 * s) (x + q)) as [L|L]; [exact L|exfalso].
    assert (v < x * (q + 1)) by lia. assert (x * (q + 1) <= x * (2 * s - x)) by (apply Z.mul_le_mono_nonneg_l; lia).
    assert (0 <= (x - s) * (x - s)) by apply Z.square_nonneg. lia.
  - assert (x * (2 * y) <= x * (x + q)) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
Qed.

Lemma step : forall v s x E, 2 ^ 25 <= s < 2 ^ 26 -> s * s <= v < (s + 1) * (s + 1) -> s <= x <= s + E -> E <= 2 ^ 24 ->
  s <= shr 1 (add x (v / x)) <= s + (E * E / 2 ^ 26 + 1).
Proof.
  intros v s x E Hs Hv Hx HE. destruct (newton v s x ltac:(lia) ltac:(lia) Hv) as [L U].
  assert (Q : 0 <= v / x <= v) by (split; [apply Z.div_pos; nia|apply Z.div_le_upper_bound; nia]).
  assert (V : v < 2 ^ 54) by nia.
  rewrite add_small, shr_div by (unfold W; lia). change (2 ^ 1) with 2. set (y := (x + v / x) / 2) in *.
  split; [exact L|]. clearbody y.
  pose proof (Z.div_mod (E * E) (2 ^ 26) ltac:(lia)) as D. pose proof (Z.mod_pos_bound (E * E) (2 ^ 26) ltac:(lia)) as M.
  set (k := E * E / 2 ^ 26) in *. destruct (Z.le_gt_cases y (s + (k + 1))) as [G|G]; [exact G|exfalso].
  assert (0 <= (x - s) <= E) by lia. assert ((x - s) * (x - s) <= E * E) by nia.
  assert (2 * s * (y - s) <= 2 * x * (y - s)) by nia.
  assert (2 ^ 26 * (y - s - 1) <= 2 * s * (y - s - 1)) by nia. nia.
Qed.

Lemma mantissaSqrt_is : forall v, 2 ^ 50 <= v < 2 ^ 52 -> mantissaSqrt v = Z.sqrt v.
Proof.
  intros v Hv. pose proof (Z.sqrt_spec v ltac:(lia)) as S. cbv zeta in S. rewrite <- !Z.add_1_r in S.
  pose proof (Z.sqrt_nonneg v) as N. set (s := Z.sqrt v) in *. assert (B : 2 ^ 25 <= s < 2 ^ 26) by (clearbody s; nia). clearbody s.
  unfold mantissaSqrt. change (shl 24 3) with 50331648.
  assert (X1 : s <= shr 1 (add 50331648 (v / 50331648)) <= s + 2796204).
  { destruct (newton v s 50331648 ltac:(lia) ltac:(lia) S) as [L U].
    assert (0 <= v / 50331648 <= v) by (split; [apply Z.div_pos; lia|apply Z.div_le_upper_bound; lia]).
    rewrite add_small, shr_div by (unfold W; lia). change (2 ^ 1) with 2. split; [exact L|]. nia. }
  set (x1 := shr 1 (add 50331648 _)) in *. clearbody x1.
  pose proof (step v s x1 2796204 B S X1 ltac:(lia)) as X2. change (2796204 * 2796204 / 2 ^ 26 + 1) with 116509 in X2.
  set (x2 := shr 1 (add x1 _)) in *. clearbody x2.
  pose proof (step v s x2 116509 B S X2 ltac:(lia)) as X3. change (116509 * 116509 / 2 ^ 26 + 1) with 203 in X3.
  set (x3 := shr 1 (add x2 _)) in *. clearbody x3.
  pose proof (step v s x3 203 B S X3 ltac:(lia)) as X4. change (203 * 203 / 2 ^ 26 + 1) with 1 in X4.
  set (x4 := shr 1 (add x3 _)) in *. clearbody x4.
  rewrite mul_small by (unfold W; nia). destruct (Z.ltb_spec v (x4 * x4)).
  - rewrite sub_small by (unfold W; lia). nia.
  - nia.
Qed.

Lemma parity : forall e s, (Z.land (Z.lxor (uint e) s) 1 =? 1) = xorb (Z.odd e) (Z.odd s).
Proof.
  intros. change 1 with (2 ^ 1 - 1) at 1. rewrite land_ones_low by lia. change (2 ^ 1) with 2. rewrite Zmod_odd.
  rewrite <- !Z.bit0_odd, Z.lxor_spec. replace (Z.testbit (uint e) 0) with (Z.testbit e 0).
  - destruct (xorb _ _); reflexivity.
  - unfold uint, W. symmetry. apply Z.mod_pow2_bits_low. lia.
Qed.

Theorem sqrt_correct32 : forall a, word32 a ->
  if nan32 a then sqrt32 a = NAN32
  else if zero32 a then sqrt32 a = 0
  else if negative32 a then sqrt32 a = NAN32
  else if finite32 a then rounds_to32 (sqrt (real32 a)) (sqrt32 a)
  else sqrt32 a = INFINITY32.
Proof.
  intros a Ha. unfold sqrt32. general. rewrite zero_parts by exact Ha. unfold isZero32. rewrite land_MAGNITUDE.
  destruct (with32 cases a Ha) as [(N & _ & K & _)|[(N & F & K & I & S & _)|(N & F & K & I & S & L)]];
    rewrite N, K, ?S, ?I, ?F; [reflexivity|destruct (_ =? 0), (isNegativeWord 23 8 a); reflexivity|].
  destruct (Z.eqb_spec (a mod 2 ^ 31) 0) as [Z0|Z0]; [reflexivity|].
  destruct (isNegativeWord 23 8 a) eqn:G; [reflexivity|].
  destruct (with32 decode_finite a Ha L) as (m & e & D & Bm & Be & Zm & _ & V). rewrite decode_same, G in D by exact Ha.
  destruct (Mul.decode a) as [m' e']. cbn [fst snd] in D. injection D as -> ->. rewrite G in V.
  change (Format.lowest 23 8) with (-149) in Be. change (Format.highest 8) with 127 in Be. change (23 + 1) with 24 in Bm.
  assert (M0 : m <> 0).
  { intros E. apply Z0. rewrite <- (with32 magnitudeBits_mod). apply Zm. exact E. }
  destruct (clz_spec m ltac:(unfold W; lia)) as [C1 C2]. set (c := clz m) in *. clearbody c.
  assert (C : 232 <= c).
  { destruct (Z.le_gt_cases 232 c) as [G1|G1]; [exact G1|exfalso]. assert (2 ^ c <= 2 ^ 231) by (apply Z.pow_le_mono_r; lia). nia. }
  rewrite parity, (sub_small c 205) by (unfold W; lia). set (odd := xorb _ _).
  assert (P : exists t, (if odd then add (c - 205) 1 else c - 205) = t /\ c - 205 <= t <= c - 204 /\ 27 <= t <= 51 /\
    exists h, e - t = 2 * h).
  { exists (c - 205 + b2z odd). unfold odd. rewrite (add_small (c - 205) 1) by (unfold W; lia).
    pose proof (Zmod_odd e) as O1. pose proof (Zmod_odd (c - 205)) as O2.
    pose proof (Z.div_mod e 2 ltac:(lia)). pose proof (Z.div_mod (c - 205) 2 ltac:(lia)).
    destruct (Z.odd e), (Z.odd (c - 205)); cbn [xorb b2z]; (split; [lia|]; split; [lia|]; split; [lia|]).
    - exists (e / 2 - (c - 205) / 2). lia.
    - exists (e / 2 - (c - 205) / 2). lia.
    - exists (e / 2 - (c - 205) / 2 - 1). lia.
    - exists (e / 2 - (c - 205) / 2). lia. }
  destruct P as (t & -> & T1 & T2 & h & H).
  assert (Q : 2 ^ 50 <= m * 2 ^ t < 2 ^ 52).
  { assert (E : 2 ^ c = 2 ^ (c - 205) * 2 ^ 205) by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
    assert (0 < 2 ^ (c - 205)) by (apply pow_pos; lia).
    assert (B : 2 ^ 50 <= m * 2 ^ (c - 205) < 2 ^ 51) by (unfold W in C2; rewrite E in C2; lia).
    destruct (Z.eq_dec t (c - 205)) as [->|]; [lia|]. replace t with (Z.succ (c - 205)) by lia.
    rewrite Z.pow_succ_r by lia. lia. }
  rewrite shl_small by (unfold W; lia). rewrite mantissaSqrt_is by exact Q.
  rewrite (int_small t), (int_small (e - t)), H, (Z.mul_comm 2), Z.quot_mul by lia.
  set (v := m * 2 ^ t) in *. pose proof (Z.sqrt_spec v ltac:(lia)) as S1. cbv zeta in S1.
  rewrite <- !Z.add_1_r in S1. pose proof (Z.sqrt_nonneg v) as S2. set (r := Z.sqrt v) in *. assert (B : 2 ^ 25 <= r < 2 ^ 26) by (clearbody r v; nia).
  rewrite mul_small by (unfold W; nia).
  assert (Vr : real32 a = (IZR v * bpow radix2 (2 * h))%R).
  { rewrite V, <- H. unfold v. rewrite mult_IZR, (IZR_Zpower radix2), Rmult_assoc, <- bpow_plus by lia.
    f_equal. f_equal. lia. }
  assert (X : sqrt (real32 a) = (sqrt (IZR v) * bpow radix2 h)%R).
  { rewrite Vr, sqrt_mult_alt by (apply IZR_le; lia). f_equal. replace (2 * h) with (h + h) by lia.
    rewrite bpow_plus. apply sqrt_square. apply bpow_ge_0. }
  rewrite X. clearbody r v. clear X Vr V.
  assert (Hb : (0 < bpow radix2 h)%R) by apply bpow_gt_0.
  apply (roundToFloat32_correct false); try (unfold W; lia).
  destruct (Z.eqb_spec (r * r) v) as [E|E]; cbn [negb].
  - rewrite <- E, mult_IZR, sqrt_square by (apply IZR_le; lia). reflexivity.
  - assert (IZR r < sqrt (IZR v) < IZR (r + 1))%R.
    { split; [rewrite <- (sqrt_square (IZR r)) by (apply IZR_le; lia)|
        rewrite <- (sqrt_square (IZR (r + 1))) by (apply IZR_le; lia)];
      rewrite <- mult_IZR; apply sqrt_lt_1_alt; split; (apply IZR_le || apply IZR_lt); lia. }
    split; apply Rmult_lt_compat_r; tauto.
Qed.
