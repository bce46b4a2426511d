(* SPDX-License-Identifier: MIT *)
(* Float32.mul, and the results of sums and products by Flocq's own functions. *)
Require Import ZArith Reals Lia Lra Bool List.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format RoundTo Sum Products Dot.
Open Scope Z_scope.

(* Float32.roundToFloat32 *)
Definition roundToFloat32 (negative : bool) (mantissa exponent : Z) (sticky : bool) : Z :=
  if mantissa =? 0 then 0 else
  let leading := clz mantissa in
  let top := int (int (exponent + 255) - leading) in
  if 128 <=? top then (if negative then NEG_INFINITY32 else INFINITY32) else
  let mantissa := shl leading mantissa in
  if -126 <=? top then
    let word := add (roundBits mantissa 232 sticky) (shl 23 (uint (int (top + 126)))) in
    if negative then Z.lor word SIGN32 else word
  else if top <? -150 then 0
  else
    let word := roundBits mantissa (uint (int (106 - top))) sticky in
    if word =? 0 then 0 else if negative then Z.lor word SIGN32 else word.

(* Float32.decode of a finite word: mantissa and exponent *)
Definition decode (a : Z) : Z * Z :=
  let field := Z.land (shr 23 a) 0xff in
  (Z.lor (Z.land a 0x7fffff) (shl 23 (gt field 0)), int (sub (add field (iszero field)) 150)).

Definition isNaN32 (a : Z) := INFINITY32 <? Z.land a MAGNITUDE.
Definition isZero32 (a : Z) := Z.land a MAGNITUDE =? 0.
Definition areFinite (a b : Z) := (Z.land a MAGNITUDE <? INFINITY32) && (Z.land b MAGNITUDE <? INFINITY32).

(* Float32.mul *)
Definition mul32 (a b : Z) : Z :=
  let negative := negb (Z.land (Z.lxor a b) SIGN32 =? 0) in
  if negb (areFinite a b) then
    if isNaN32 a || isNaN32 b || isZero32 a || isZero32 b then NAN32
    else if negative then NEG_INFINITY32 else INFINITY32
  else
    let '(x, xExponent) := decode a in
    let '(y, yExponent) := decode b in
    roundToFloat32 negative (mul x y) (int (xExponent + yExponent)) false.

(* The specialised rounding is the general one. *)
Lemma roundToFloat32_general : forall negative m e sticky, 0 <= m < W -> - 2 ^ 254 <= e <= 2 ^ 254 ->
  roundToFloat32 negative m e sticky = roundTo32 negative m e sticky.
Proof.
  intros negative m e sticky Hm He. unfold roundToFloat32, roundTo. destruct (Z.eqb_spec m 0); [reflexivity|].
  destruct (clz_spec m ltac:(lia)) as [Hl _]. set (lead := clz m) in *. clearbody lead.
  rewrite !(int_small (e + 255)) by lia. rewrite !(int_small (e + 255 - lead)) by lia.
  set (top := e + 255 - lead). change (Format.highest 8) with 127. change (Format.lowest 23 8) with (-149).
  change (- (127)) with (-127). change (int (-149 - 1)) with (-150). change (sub 255 23) with 232.
  destruct (Z.leb_spec 128 top), (Z.ltb_spec 127 top); try lia; [destruct negative; reflexivity|].
  destruct (Z.leb_spec (-126) top), (Z.ltb_spec (-127) top); try lia.
  - rewrite (int_small (top + 126)), (int_small (top + 127)), int_small by lia.
    replace (top + 127 - 1) with (top + 126) by lia. reflexivity.
  - destruct (top <? -150) eqn:E; [reflexivity|]. apply Z.ltb_ge in E.
    rewrite (int_small (106 - top)), (int_small (top - -149)), int_small by lia.
    replace (255 - (top - -149)) with (106 - top) by lia. reflexivity.
Qed.

Theorem roundToFloat32_correct : forall (negative : bool) (m e : Z) (sticky : bool) (x : R),
  0 <= m < W -> - 2 ^ 254 <= e <= 2 ^ 254 ->
  (if sticky then IZR m * bpow radix2 e < x < IZR (m + 1) * bpow radix2 e else x = IZR m * bpow radix2 e)%R ->
  (sticky = true -> 2 ^ 24 <= m \/ e <= -150) ->
  rounds_to32 (if negative then - x else x)%R (roundToFloat32 negative m e sticky).
Proof.
  intros. rewrite roundToFloat32_general by assumption.
  apply (roundTo_correct 23 8 P23 P8 PM); try assumption; lia.
Qed.

Lemma decode_parts : forall a, 0 <= a < 2 ^ 32 -> decode a = (mantissaOf a, exponentOf a - 150).
Proof.
  intros a Ha. unfold decode. rewrite shr_div by (unfold W; lia). change 0xff with (2 ^ 8 - 1).
  rewrite land_ones_low by lia. fold (fieldOf a). pose proof (fieldOf_range a) as R.
  change 0x7fffff with (2 ^ 23 - 1). rewrite land_ones_low by lia.
  pose proof (Z.mod_pos_bound a (2 ^ 23) ltac:(lia)) as M.
  unfold mantissaOf, exponentOf, gt, iszero. destruct (Z.eqb_spec (fieldOf a) 0) as [F|F].
  - rewrite F. change (0 <? 0) with false. cbn [b2z]. change (shl 23 0) with 0. rewrite Z.lor_0_r. reflexivity.
  - replace (0 <? fieldOf a) with true by (symmetry; apply Z.ltb_lt; lia). cbn [b2z].
    change (shl 23 1) with (1 * 2 ^ 23). rewrite Z.lor_comm, lor_disjoint by lia.
    f_equal; [lia|]. rewrite add_small by (unfold W; lia). rewrite Z.add_0_r. unfold sub. rewrite int_of_word by lia.
    reflexivity.
Qed.

(* The word of a product: NaN if a factor is, or for 0 * infinity; an infinity with the sign of the product; else the
   real product, rounded once. *)
Theorem mul_correct : forall a b, is_word (a, b) ->
  match kindOf (a, b) with
  | Nan => mul32 a b = NAN32
  | Infinite negative => mul32 a b = if negative then NEG_INFINITY32 else INFINITY32
  | Finite => rounds_to32 (real32 a * real32 b) (mul32 a b)
  end.
Proof.
  intros a b Hw. pose proof (kind_parts a b Hw) as K. destruct Hw as [Ha Hb]. cbn [fst snd] in *.
  pose proof (fieldOf_range a) as Ra. pose proof (fieldOf_range b) as Rb.
  pose proof (magnitude_parts a) as Ma. pose proof (magnitude_parts b) as Mb.
  pose proof (Z.mod_pos_bound a (2 ^ 23) ltac:(lia)) as Fa. pose proof (Z.mod_pos_bound b (2 ^ 23) ltac:(lia)) as Fb.
  unfold mul32, areFinite, isNaN32, isZero32. rewrite !land_MAGNITUDE.
  assert (S : negb (Z.land (Z.lxor a b) SIGN32 =? 0) = xorb (2 ^ 31 <=? a) (2 ^ 31 <=? b)).
  { pose proof (sign_of_product a b Ha Hb) as E. unfold shr in E. change (31 <? 256) with true in E. cbv iota in E.
    change SIGN32 with ((2 ^ 1 - 1) * 2 ^ 31). rewrite land_field, E by lia.
    destruct (xorb _ _); reflexivity. }
  rewrite S. set (s := xorb _ _) in *.
  destruct ((fieldOf a <? 255) && (fieldOf b <? 255)) eqn:F.
  - apply andb_prop in F. destruct F as [F1 F2]. apply Z.ltb_lt in F1, F2.
    assert (Kf : kindOf (a, b) = Finite) by (destruct (kindOf (a, b)) as [| |[|]]; try reflexivity; discriminate).
    rewrite Kf. unfold INFINITY32.
    replace (a mod 2 ^ 31 <? 2139095040) with true by (symmetry; apply Z.ltb_lt; lia).
    replace (b mod 2 ^ 31 <? 2139095040) with true by (symmetry; apply Z.ltb_lt; lia). cbn [andb negb].
    rewrite !decode_parts by assumption.
    pose proof (mantissaOf_range a). pose proof (mantissaOf_range b).
    pose proof (exponentOf_range a). pose proof (exponentOf_range b).
    rewrite mul_small by (unfold W; nia). rewrite int_small by lia.
    destruct (finite_parts a Ha F1) as (_ & _ & Va). destruct (finite_parts b Hb F2) as (_ & _ & Vb).
    replace (real32 a * real32 b)%R with
      (if s then - (IZR (mantissaOf a * mantissaOf b) * bpow radix2 (exponentOf a - 150 + (exponentOf b - 150)))
       else IZR (mantissaOf a * mantissaOf b) * bpow radix2 (exponentOf a - 150 + (exponentOf b - 150)))%R.
    + apply roundToFloat32_correct; [unfold W; nia|lia|reflexivity|discriminate].
    + rewrite Va, Vb, bpow_plus, mult_IZR. unfold s.
      destruct (2 ^ 31 <=? a), (2 ^ 31 <=? b); cbn [xorb]; rewrite ?opp_IZR; ring.
  - assert (G : (a mod 2 ^ 31 <? INFINITY32) && (b mod 2 ^ 31 <? INFINITY32) = false).
    { apply andb_false_iff in F. apply andb_false_iff. unfold INFINITY32.
      destruct F as [F|F]; apply Z.ltb_ge in F; [left|right]; apply Z.ltb_ge; lia. }
    rewrite G. cbn [negb]. revert K. unfold flagBy. fold s. unfold INFINITY32. change (2 ^ 23 * 255) with 2139095040.
    destruct (2139095040 <? a mod 2 ^ 31), (2139095040 <? b mod 2 ^ 31); cbn [orb];
      try (destruct (kindOf (a, b)) as [| |[|]]; try discriminate; reflexivity).
    destruct ((a mod 2 ^ 31 =? 0) || (b mod 2 ^ 31 =? 0));
      [|destruct s]; destruct (kindOf (a, b)) as [| |[|]]; try discriminate; reflexivity.
Qed.

(* By Flocq's binary_normalize, which can be computed: the same words. *)
Notation flocq32 := (flocqRound 23 8 P23 PM).

Theorem dot_flocq : forall terms, Forall is_word terms -> Z.of_nat (length terms) <= 2 ^ 80 ->
  has Nan terms = false -> has (Infinite false) terms = false -> has (Infinite true) terms = false ->
  dot terms = flocq32 (unitsOf terms) (-300).
Proof.
  intros terms HF Hn E1 E2 E3. pose proof (dot_correct terms HF Hn) as D. rewrite E1, E2, E3 in D. cbn [orb andb] in D.
  rewrite (sum_real terms HF E1 E2 E3) in D. apply (rounds_to_unique _ _ _ _ _ _ _ _ D). apply flocqRound_rounds.
Qed.

(* By Flocq's multiplication of binary32. *)
Lemma sign_of_real : forall f : binary_float 24 128, B2R 24 128 f <> 0%R ->
  Rlt_bool (B2R 24 128 f) 0 = Bsign 24 128 f.
Proof.
  intros [s|s|s p e|s m e b] H; try (exfalso; apply H; reflexivity). simpl. destruct s.
  - apply Rlt_bool_true. apply F2R_lt_0. reflexivity.
  - apply Rlt_bool_false. apply F2R_ge_0. discriminate.
Qed.

Theorem mul_flocq : forall a b, is_word (a, b) ->
  mul32 a b = wordOf 23 8 (b32_mult mode_NE (b32_of_bits a) (b32_of_bits b)).
Proof.
  intros a b Hw. pose proof (mul_correct a b Hw) as C. unfold kindOf, isNaN, isFinite, zero32, isNegative in C.
  change (floatOf 23 8 P23 P8 PM a) with (b32_of_bits a) in C. change (floatOf 23 8 P23 P8 PM b) with (b32_of_bits b) in C.
  unfold realOf in C.
  change (floatOf 23 8 P23 P8 PM a) with (b32_of_bits a) in C. change (floatOf 23 8 P23 P8 PM b) with (b32_of_bits b) in C.
  destruct (is_finite 24 128 (b32_of_bits a) && is_finite 24 128 (b32_of_bits b)) eqn:F.
  - set (fa := b32_of_bits a) in *. set (fb := b32_of_bits b) in *. clearbody fa fb.
    apply andb_prop in F. destruct F as [Fa Fb].
    assert (N : forall f : binary_float 24 128, is_finite 24 128 f = true -> is_nan 24 128 f = false)
      by (intros [] Hf; try discriminate; reflexivity).
    change (23 + 1) with 24 in C. change (2 ^ (8 - 1)) with 128 in C. rewrite (N fa Fa), (N fb Fb), Fa, Fb in C. cbn [orb andb] in C.
    apply (rounds_to_unique _ _ _ _ _ _ _ _ C). apply wordOf_rounds.
    pose proof (Bmult_correct 24 128 eq_refl eq_refl binop_nan_pl32 mode_NE fa fb) as B.
    unfold rounded. change (23 + 1) with 24. change (2 ^ (8 - 1)) with 128. change ZnearestE with (round_mode mode_NE).
    destruct (Rlt_bool_spec (Rabs (round radix2 (SpecFloat.fexp 24 128) (round_mode mode_NE) (B2R 24 128 fa * B2R 24 128 fb)))
      (bpow radix2 128)) as [L|L].
    + destruct B as (B1 & B2 & _). rewrite Fa, Fb in B2. split; assumption.
    + unfold b32_mult. rewrite B. cbn [binary_overflow]. 
      assert (P : (B2R 24 128 fa * B2R 24 128 fb <> 0)%R).
      { intros E. rewrite E, round_0, Rabs_R0 in L by apply valid_rnd_N. pose proof (bpow_gt_0 radix2 128). lra. }
      assert (Pa : B2R 24 128 fa <> 0%R) by (intros E; apply P; rewrite E; ring).
      assert (Pb : B2R 24 128 fb <> 0%R) by (intros E; apply P; rewrite E; ring).
      rewrite <- (sign_of_real fa Pa), <- (sign_of_real fb Pb).
      assert (E : Rlt_bool (B2R 24 128 fa * B2R 24 128 fb) 0 =
        xorb (Rlt_bool (B2R 24 128 fa) 0) (Rlt_bool (B2R 24 128 fb) 0)).
      { destruct (Rlt_bool_spec (B2R 24 128 fa) 0), (Rlt_bool_spec (B2R 24 128 fb) 0); cbn [xorb];
          [apply Rlt_bool_false|apply Rlt_bool_true|apply Rlt_bool_true|apply Rlt_bool_false]; nra. }
      rewrite E. reflexivity.
  - destruct (b32_of_bits a) as [s|s|s p e|s m e Be], (b32_of_bits b) as [s'|s'|s' p' e'|s' m' e' Be'];
      cbn in F; try discriminate; cbn in C; rewrite C; try reflexivity; destruct s, s'; reflexivity.
Qed.
