(* SPDX-License-Identifier: MIT *)
(* Float32.sol in the compiler's intermediate code, which `Ir.v` has in Coq, is what the models say. `Ir.v` is made by
   the check from the contracts; a word there is an integer from 0 up to W - 1, a truth value 0 or 1, an int256 the word
   of the integer. *)
Require Import ZArith Lia Bool List.
Require Import Evm Rounding Format RoundTo Arithmetic Sum Products Mul Float32 Integral Signed Ir.
Open Scope Z_scope.

Ltac branch := rewrite ?iszero_b2z, ?if_b2z, ?b2z_zero, ?negb_involutive.

Theorem leadingZeros_ir : forall a, Float32_leadingZeros a = clz a.
Proof. reflexivity. Qed.

Theorem roundBits_ir : forall m drop sticky, Float32_roundBits m drop (b2z sticky) = roundBits m drop sticky.
Proof. reflexivity. Qed.

Theorem isNaN_ir : forall a, Float32_isNaN a = b2z (isNaN32 a).
Proof. reflexivity. Qed.

Theorem isInfinite_ir : forall a, Float32_isInfinite a = b2z (isInfinite32 a).
Proof. reflexivity. Qed.

Theorem isZero_ir : forall a, Float32_isZero a = b2z (isZero32 a).
Proof. reflexivity. Qed.

Theorem isNegative_ir : forall a, Float32_isNegative a = b2z (isNegative32 a).
Proof. intros. unfold Float32_isNegative, eq. helpers. apply iszero_b2z. Qed.

Theorem areFinite_ir : forall a b, Float32_areFinite a b = b2z (areFinite a b).
Proof.
  intros. unfold Float32_areFinite, areFinite, lt. helpers. change 2147483647 with MAGNITUDE.
  change 2139095040 with INFINITY32. destruct (_ <? _), (_ <? _); reflexivity.
Qed.

Theorem areNumbers_ir : forall a b, Float32_areNumbers a b = b2z (areNumbers a b).
Proof.
  intros. unfold Float32_areNumbers, areNumbers, gt. helpers. change 2147483647 with MAGNITUDE.
  change 2139095040 with INFINITY32. destruct (_ <? _), (_ <? _); reflexivity.
Qed.

Theorem canonical_ir : forall a, Float32_canonical a = canonical32 a.
Proof. intros. unfold Float32_canonical, gt, eq. helpers. branch. reflexivity. Qed.

Theorem neg_ir : forall a, Float32_neg a = neg32 a.
Proof. intros. unfold Float32_neg. helpers. apply canonical_ir. Qed.

Theorem abs_ir : forall a, Float32_abs a = abs32 a.
Proof. intros. unfold Float32_abs. helpers. apply canonical_ir. Qed.

Theorem decode_ir : forall a,
  Float32_decode a = (Z.land (shr 31 a) 1, fst (Mul.decode a), uint (snd (Mul.decode a))).
Proof.
  intros. unfold Float32_decode, Mul.decode. helpers. cbn [fst snd]. rewrite uint_int, uint_small; [reflexivity|].
  apply Z.mod_pos_bound. reflexivity.
Qed.

Theorem applySign_ir : forall a m, Float32_applySign a m = uint (applySign a m).
Proof.
  intros. unfold Float32_applySign, applySign. helpers. cbv zeta. rewrite uint_int, uint_small; [reflexivity|].
  apply Z.mod_pos_bound. reflexivity.
Qed.

Theorem order_ir : forall a, Float32_order a = uint (order32 a).
Proof. intros. unfold Float32_order. helpers. apply applySign_ir. Qed.

Theorem decodeSigned_ir : forall a,
  Float32_decodeSigned a = (uint (fst (decodeSigned32 a)), uint (snd (decodeSigned32 a))).
Proof.
  intros. unfold Float32_decodeSigned, decodeSigned32. helpers. rewrite decode_ir. destruct (Mul.decode a) as [m e].
  cbn [fst snd]. rewrite applySign_ir. reflexivity.
Qed.

Theorem roundToFloat32_ir : forall negative m e sticky,
  Float32_roundToFloat32 (b2z negative) m (uint e) (b2z sticky) = roundToFloat32 negative m e sticky.
Proof.
  intros. unfold Float32_roundToFloat32, roundToFloat32, eq. helpers. change (Z.land (Z.land 23 255) 255) with 23.
  rewrite !leadingZeros_ir, !add_uint, !sub_uint. set (top := int (int (e + 255) - clz m)).
  assert (T : int top = top) by apply int_int. clearbody top. rewrite !sub_of_uint, !add_uint, !slt_uint, T.
  change (int 128) with 128. change (int _) with (-126) at 1. change (int 115792089237316195423570985008687907853269984665640564039457584007913129639786) with (-150).
  rewrite !roundBits_ir. branch. rewrite !(Z.leb_antisym top).
  destruct (m =? 0); [reflexivity|]. destruct (top <? 128); [|destruct negative; reflexivity]. cbn [negb].
  destruct (top <? -126); cbn [negb]; [|destruct negative; reflexivity].
  destruct (top <? -150); [reflexivity|]. destruct (_ =? 0); [reflexivity|]. destruct negative; reflexivity.
Qed.

Theorem roundSigned_ir : forall m e, int256 m -> Float32_roundSigned (uint m) (uint e) = roundSigned32 m e.
Proof.
  intros m e Hm. unfold Float32_roundSigned, roundSigned32. helpers. rewrite sub_of_uint, slt_uint, (int_small m) by exact Hm.
  change (int 0) with 0. change 0 with (b2z false) at 5. rewrite if_b2z, Z.sub_0_l. destruct (m <? 0); apply roundToFloat32_ir.
Qed.

Theorem addSpecial_ir : forall a b, Float32_addSpecial a b = addSpecial a b.
Proof.
  intros. unfold Float32_addSpecial, addSpecial. helpers. rewrite !isNaN_ir, !isInfinite_ir.
  fold (Float32_isNegative a) (Float32_isNegative b). rewrite !isNegative_ir. unfold eq. branch.
  destruct (isNaN32 a), (isNaN32 b), (isInfinite32 a), (isInfinite32 b), (isNegative32 a), (isNegative32 b); reflexivity.
Qed.

Theorem add_ir : forall a b, Float32_add a b = add32 a b.
Proof.
  intros. unfold Float32_add, add32. helpers. rewrite areFinite_ir, addSpecial_ir, !decodeSigned_ir. branch.
  destruct (areFinite a b); cbn [negb]; [|reflexivity].
  destruct (decodeSigned32 a) as [x e], (decodeSigned32 b) as [y f]. cbn [fst snd].
  rewrite !sub_uints, !slt_uint, !sgt_uint, !sub_of_uint. set (gap := int (e - f)).
  assert (G : int gap = gap) by apply int_int. pose proof (int_range (e - f)) as R. fold gap in R. clearbody gap.
  rewrite G, Z.sub_0_l. branch. change (int 0) with 0. change (int 64) with 64. change (int 115792089237316195423570985008687907853269984665640564039457584007913129639872) with (- 64).
  rewrite (Z.leb_antisym gap). destruct (Z.ltb_spec gap 0) as [N|N]; cbn [negb].
  - destruct (Z.ltb_spec gap (- 64)); [reflexivity|]. rewrite (int_small (- gap)), (uint_small (- gap)) by (unfold W; lia).
    rewrite shl_uint by lia. fold (shlInt (- gap) y). rewrite add_uints. apply roundSigned_ir. apply int_range.
  - destruct (Z.ltb_spec 64 gap); [reflexivity|]. rewrite (uint_small gap) by (unfold W; lia).
    rewrite shl_uint by lia. fold (shlInt gap x). rewrite add_uints. apply roundSigned_ir. apply int_range.
Qed.

Theorem sub_ir : forall a b, Float32_sub a b = sub32 a b.
Proof. intros. unfold Float32_sub, sub32. helpers. rewrite add_ir. reflexivity. Qed.

Theorem mul_ir : forall a b, Float32_mul a b = mul32 a b.
Proof.
  intros. unfold Float32_mul, mul32. helpers. rewrite areFinite_ir, !decode_ir, !isNaN_ir, !isZero_ir, isNegative_ir.
  fold (isNegative32 (Z.lxor a b)). branch. destruct (areFinite a b); cbn [negb].
  - destruct (Mul.decode a) as [x e], (Mul.decode b) as [y f]. cbn [fst snd]. rewrite add_uints.
    apply (roundToFloat32_ir _ _ _ false).
  - destruct (isNaN32 a), (isNaN32 b), (isZero32 a), (isZero32 b), (isNegative32 (Z.lxor a b)); reflexivity.
Qed.

Lemma order_int : forall a, int256 (order32 a).
Proof. intros. apply int_range. Qed.

Ltac orders := helpers; rewrite areNumbers_ir, !order_ir, ?slt_uint, ?sgt_uint, ?int_uint, ?eq_uints,
  ?(int_small (order32 _)) by apply order_int; branch.

Theorem min_ir : forall a b, Float32_min a b = min32 a b.
Proof. intros. unfold Float32_min, min32. orders. rewrite canonical_ir. destruct (areNumbers a b), (_ <? _); reflexivity. Qed.

Theorem max_ir : forall a b, Float32_max a b = max32 a b.
Proof. intros. unfold Float32_max, max32. orders. rewrite canonical_ir. destruct (areNumbers a b), (_ <? _); reflexivity. Qed.

Theorem eq_ir : forall a b, Float32_eq a b = eq32 a b.
Proof. intros. unfold Float32_eq, eq32. orders. destruct (areNumbers a b), (order32 a =? order32 b); reflexivity. Qed.

Theorem lt_ir : forall a b, Float32_lt a b = lt32 a b.
Proof. intros. unfold Float32_lt, lt32. orders. destruct (areNumbers a b), (_ <? _); reflexivity. Qed.

Theorem le_ir : forall a b, Float32_le a b = le32 a b.
Proof.
  intros. unfold Float32_le, le32. orders. rewrite (Z.leb_antisym (order32 b)).
  destruct (areNumbers a b), (_ <? _); reflexivity.
Qed.

Theorem isIntegral_ir : forall a, Float32_isIntegral a = b2z (isIntegral a).
Proof. intros. unfold Float32_isIntegral, isIntegral, lt. helpers. rewrite Z.leb_antisym. apply iszero_b2z. Qed.

Theorem decodeFraction_ir : forall a,
  Float32_decodeFraction a = (uint (fst (decodeFraction a)), snd (decodeFraction a)).
Proof.
  intros. unfold Float32_decodeFraction, decodeFraction. helpers. rewrite decodeSigned_ir.
  destruct (decodeSigned32 a) as [m e]. cbn [fst snd]. rewrite sub_of_uint, Z.sub_0_l. reflexivity.
Qed.

Lemma odd_uint : forall z, Z.land (uint z) 1 = Z.land z 1.
Proof.
  intros. unfold uint, W. rewrite <- (land_ones_low z 256), <- Z.land_assoc by lia. reflexivity.
Qed.

Ltac integral a Ha := helpers; rewrite isIntegral_ir, canonical_ir, decodeFraction_ir; branch;
  destruct (isIntegral a) eqn:I; [reflexivity|];
  destruct (fraction_parts a Ha I) as (m & p & D & P & B); rewrite ?D; cbn [fst snd];
  pose proof (below_small m p ltac:(lia) B); pose proof (below_small (- m) p ltac:(lia) ltac:(lia)).

Theorem floor_ir : forall a, word32 a -> Float32_floor a = floor32 a.
Proof.
  intros a Ha. unfold Float32_floor, floor32. integral a Ha. rewrite sar_uint by (unfold int256; lia).
  apply (roundSigned_ir _ 0). unfold sar, int256. lia.
Qed.

Theorem ceil_ir : forall a, word32 a -> Float32_ceil a = ceil32 a.
Proof.
  intros a Ha. unfold Float32_ceil, ceil32. integral a Ha. rewrite sub_of_uint, Z.sub_0_l, sar_uint, sub_of_uint, Z.sub_0_l.
  - apply (roundSigned_ir _ 0). apply int_range.
  - lia.
  - apply int_range.
Qed.

Theorem round_ir : forall a, word32 a -> Float32_round a = round32 a.
Proof.
  intros a Ha. unfold Float32_round, round32, gt, eq. integral a Ha. change (Z.land (Z.land 1 255) 255) with 1.
  rewrite !sar_uint, !(shl_uint p (sar p m)), !sub_uints, odd_uint by (unfold int256; lia). fold (shlInt p (sar p m)).
  rewrite add_uint. branch. set (twice := shl 1 _). set (one := shl p 1).
  destruct (one <? twice), (twice =? one) eqn:E; rewrite ?(Z.eqb_sym one), ?E; cbn [orb andb];
    try destruct (Z.land (sar p m) 1 =? 1); apply (roundSigned_ir _ 0);
    try apply int_range; unfold sar, int256; lia.
Qed.

Theorem sign_ir : forall a, Float32_sign a = sign32 a.
Proof.
  intros. unfold Float32_sign, sign32. helpers. rewrite isNaN_ir, isZero_ir, isNegative_ir. branch.
  destruct (isNaN32 a), (isZero32 a), (isNegative32 a); reflexivity.
Qed.

(* All of these. *)
Definition float32_ir :=
  (leadingZeros_ir, roundBits_ir, isNaN_ir, isInfinite_ir, isZero_ir, isNegative_ir, areFinite_ir, areNumbers_ir,
   canonical_ir, neg_ir, abs_ir, decode_ir, applySign_ir, order_ir, decodeSigned_ir, roundToFloat32_ir,
   roundSigned_ir, addSpecial_ir, add_ir, sub_ir, mul_ir, min_ir, max_ir, eq_ir, lt_ir, le_ir,
   isIntegral_ir, decodeFraction_ir, floor_ir, ceil_ir, round_ir, sign_ir).
