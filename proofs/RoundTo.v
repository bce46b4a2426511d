(* SPDX-License-Identifier: MIT *)
(* Float.roundTo, of any float type: the word that it returns is the real, rounded once. *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core BinarySingleNaN Binary Bits.
Require Import Evm Rounding Format.
Open Scope Z_scope.

Section RoundTo.

Variables mw ew : Z.
Hypothesis Hmw : 0 < mw.
Hypothesis Hew : 0 < ew.
Hypothesis Hmax : mw + 1 < 2 ^ (ew - 1).
Hypothesis Hmw' : mw <= 64.
Hypothesis Hew' : ew <= 16.

Notation prec := (mw + 1).
Notation emax := (2 ^ (ew - 1)).
Notation highest := (highest ew).
Notation lowest := (lowest mw ew).
Notation SIGN := (SIGN mw ew).
Notation INFINITY := (INFINITY mw ew).
Notation rounded := (rounded mw ew).
Notation rounds_to := (rounds_to mw ew Hmw Hew Hmax).
Notation magnitude := (magnitude mw ew).
Notation signed := (signed mw ew).

(* Float.roundTo *)
Definition withSign (negative : bool) (word : Z) := if negative then Z.lor word SIGN else word.
Definition roundTo (negative : bool) (mantissa exponent : Z) (sticky : bool) : Z :=
  if mantissa =? 0 then 0 else
  let leading := clz mantissa in
  let top := int (int (exponent + 255) - leading) in
  let mantissa := shl leading mantissa in
  if highest <? top then withSign negative INFINITY
  else if - highest <? top then
    withSign negative (add (roundBits mantissa (sub 255 mw) sticky)
      (shl mw (uint (int (int (top + highest) - 1)))))
  else if top <? int (lowest - 1) then 0
  else
    let word := roundBits mantissa (uint (int (255 - int (top - lowest)))) sticky in
    if word =? 0 then 0 else withSign negative word.

Lemma withSign_signed : forall s w, 0 <= w < SIGN -> withSign s w = signed s w.
Proof.
  intros [|] w Hw; [|reflexivity]. unfold withSign, Format.signed, Format.SIGN in *. rewrite Z.lor_comm.
  rewrite <- (Z.mul_1_l (2 ^ (mw + ew))). rewrite lor_disjoint by lia. lia.
Qed.

Open Scope R_scope.
Definition negated (s : bool) (x : R) := if s then - x else x.

Lemma rounded_negated : forall s x, rounded (negated s x) = negated s (rounded x).
Proof. intros [|] x; [apply round_NE_opp|reflexivity]. Qed.

Lemma Rabs_negated : forall s x, Rabs (negated s x) = Rabs x.
Proof. intros [|] x; [apply Rabs_Ropp|reflexivity]. Qed.

Lemma rounds_finite : forall s x w, (0 <= w < INFINITY)%Z -> (s = true -> w <> 0%Z) -> rounded x = magnitude w ->
  rounds_to (negated s x) (signed s w).
Proof.
  intros s x w Hw Hz Hr. destruct (finite_word mw ew Hmw Hew Hmax s w Hw) as (F & _ & V & _).
  pose proof (sizes mw ew Hmw Hew Hmax) as (P & Q & S & D & _). pose proof (INFINITY_positive mw ew Hmw Hew Hmax).
  assert (B : Rabs (rounded (negated s x)) < bpow radix2 emax).
  { rewrite rounded_negated, Hr. replace (negated s (magnitude w)) with (realOf mw ew Hmw Hew Hmax (signed s w)).
    apply abs_B2R_lt_emax. }
  split; [rewrite D; unfold Format.signed; destruct s; lia|]. split; [intros _|intros; lra].
  rewrite F, V, rounded_negated, Hr. repeat split. unfold Format.signed. destruct s; [specialize (Hz eq_refl); lia|lia].
Qed.

Lemma rounds_infinite : forall s x, 0 < x -> bpow radix2 emax <= rounded x ->
  rounds_to (negated s x) (signed s INFINITY).
Proof.
  intros s x Hx Hr.
  pose proof (sizes mw ew Hmw Hew Hmax) as (P & Q & S & D & _). pose proof (INFINITY_positive mw ew Hmw Hew Hmax).
  assert (B : bpow radix2 emax <= Rabs (rounded (negated s x))).
  { rewrite rounded_negated, Rabs_negated. apply Rle_trans with (2 := Rle_abs _). exact Hr. }
  split; [rewrite D; unfold Format.signed; destruct s; lia|]. split; [intros; lra|]. intros _.
  unfold Format.signed, negated. destruct s; [rewrite Rlt_bool_true by lra; apply Z.add_comm|].
  rewrite Rlt_bool_false by lra. reflexivity.
Qed.

Lemma rounds_zero : forall s, rounds_to (negated s 0) 0.
Proof.
  intros s. pose proof (INFINITY_positive mw ew Hmw Hew Hmax).
  assert (N : negated s 0 = negated false 0) by (destruct s; unfold negated; lra). rewrite N.
  pose proof (sizes mw ew Hmw Hew Hmax) as (P & _).
  change (rounds_to (negated false 0) (signed false 0)). apply rounds_finite; [lia|discriminate|].
  rewrite magnitude_subnormal by (try assumption; lia).
  rewrite Rmult_0_l. apply round_0, valid_rnd_N.
Qed.

Lemma rounds_tiny : forall s x, 0 <= x -> rounded x = 0 -> rounds_to (negated s x) 0.
Proof.
  intros s x Hx Hr. destruct (rounds_zero s) as (A & B & C). pose proof (bpow_gt_0 radix2 emax).
  assert (Z0 : rounded (negated s 0) = rounded (negated s x)).
  { rewrite !rounded_negated, Hr. f_equal. apply round_0, valid_rnd_N. }
  rewrite Z0 in *. repeat split; try (intros; apply B; assumption); try apply A. intros K. exfalso.
  rewrite rounded_negated, Rabs_negated, Hr, Rabs_R0 in K. lra.
Qed.

(* The magnitude is `m * 2^e`, or more than that and below `(m + 2^g) * 2^e`. *)
Definition between (m g e : Z) (sticky : bool) (x : R) :=
  if sticky then IZR m * bpow radix2 e < x < IZR (m + 2 ^ g) * bpow radix2 e else x = IZR m * bpow radix2 e.

Lemma fexp_is : forall k, SpecFloat.fexp prec emax k = Z.max (k - prec) lowest.
Proof. intros. unfold SpecFloat.fexp. rewrite emin_lowest by assumption. reflexivity. Qed.

Lemma round_at : forall (m g e c : Z) (sticky : bool) (x : R), (0 <= m < W)%Z -> (m mod 2 ^ g = 0)%Z -> between m g e sticky x ->
  (0 <= g)%Z -> (sticky = true -> g < c - e)%Z -> cexp radix2 (SpecFloat.fexp prec emax) x = c -> (0 < c - e <= 256)%Z ->
  rounded x = IZR (roundBits m (c - e) sticky) * bpow radix2 c.
Proof.
  intros m g e c sticky x Hm Hmg Hx Hg Hgd Hc Hd.
  assert (Hi : bpow radix2 e * bpow radix2 (- e) = 1) by (rewrite <- bpow_plus; replace (e + - e)%Z with 0%Z by lia; reflexivity).
  assert (Hn : 0 < bpow radix2 (- e)) by apply bpow_gt_0.
  assert (E : roundBits m (c - e) sticky = ZnearestE (x * bpow radix2 (- e) / IZR (2 ^ (c - e)))).
  { destruct sticky.
    - apply roundBits_correct with (g := g); [assumption|assumption|split; [assumption|apply Hgd; reflexivity]|assumption|].
      destruct Hx as [H1 H2].
      apply Rmult_lt_compat_r with (r := bpow radix2 (- e)) in H1; [|assumption].
      apply Rmult_lt_compat_r with (r := bpow radix2 (- e)) in H2; [|assumption].
      rewrite Rmult_assoc, Hi, Rmult_1_r in H1, H2. split; assumption.
    - apply roundBits_correct with (g := 0%Z); [assumption|assumption|lia|apply Z.mod_1_r|].
      unfold between in Hx. rewrite Hx, Rmult_assoc, Hi, Rmult_1_r. reflexivity. }
  rewrite E. unfold Format.rounded, round, F2R, scaled_mantissa; cbn [Fnum Fexp]. rewrite Hc. f_equal. f_equal. f_equal.
  assert (Hp : IZR (2 ^ (c - e)) = bpow radix2 (c - e)) by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
  rewrite Hp. unfold Rdiv. rewrite <- bpow_opp, Rmult_assoc, <- bpow_plus. f_equal. f_equal. lia.
Qed.

Lemma mag_of : forall m g e sticky x, (2 ^ 255 <= m < W)%Z -> (0 <= g <= 255)%Z -> (m mod 2 ^ g = 0)%Z ->
  between m g e sticky x -> mag radix2 x = (e + 256)%Z :> Z.
Proof.
  intros m g e sticky x Hm Hg Hmg Hx. assert (He : 0 < bpow radix2 e) by apply bpow_gt_0.
  assert (Hlo : bpow radix2 (e + 255) <= IZR m * bpow radix2 e).
  { rewrite bpow_plus, Rmult_comm. apply Rmult_le_compat_r; [lra|]. rewrite <- (IZR_Zpower radix2) by lia. apply IZR_le, Hm. }
  assert (Hstep : (m + 2 ^ g <= W)%Z).
  { assert (HG : (0 < 2 ^ g)%Z) by (apply pow_pos; lia).
    pose proof (Z.div_mod m (2 ^ g) ltac:(lia)) as E. rewrite Hmg in E.
    assert (EW : W = (2 ^ g * 2 ^ (256 - g))%Z) by (apply pow_split; lia). rewrite EW in *.
    assert (m / 2 ^ g < 2 ^ (256 - g))%Z by (apply Z.div_lt_upper_bound; lia).
    assert (2 ^ g * (m / 2 ^ g + 1) <= 2 ^ g * 2 ^ (256 - g))%Z by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  assert (Hhi : IZR (m + 2 ^ g) * bpow radix2 e <= bpow radix2 (e + 256)).
  { rewrite bpow_plus, (Rmult_comm (bpow radix2 e)). apply Rmult_le_compat_r; [lra|]. rewrite <- (IZR_Zpower radix2) by lia.
    apply IZR_le. exact Hstep. }
  apply mag_unique_pos. replace (e + 256 - 1)%Z with (e + 255)%Z by lia.
  unfold between in Hx. destruct sticky; [lra|]. rewrite Hx. split; [assumption|].
  apply Rlt_le_trans with (2 := Hhi). apply Rmult_lt_compat_r; [assumption|]. apply IZR_lt.
  assert (0 < 2 ^ g)%Z by (apply pow_pos; lia). lia.
Qed.

Lemma roundBits_range : forall m drop sticky k, (2 ^ 255 <= m < W)%Z -> (0 < drop <= 256)%Z -> (k = 256 - drop)%Z ->
  ((0 < k -> 2 ^ (k - 1) <= roundBits m drop sticky) /\ 0 <= roundBits m drop sticky <= 2 ^ k)%Z.
Proof.
  intros m drop sticky k Hm Hd Hk. unfold W in Hm. rewrite roundBits_integers by (unfold W; lia).
  assert (Hp : (0 < 2 ^ drop)%Z) by (apply pow_pos; lia).
  assert (Hb : (0 <= b2z (up m drop sticky) <= 1)%Z) by (unfold b2z; destruct (up m drop sticky); lia).
  assert (E : (2 ^ 256 = 2 ^ drop * 2 ^ k)%Z) by (subst k; apply pow_split; lia).
  assert (Hq : (0 <= m / 2 ^ drop < 2 ^ k)%Z) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
  split; [|lia]. intros Hk0.
  assert (E' : (2 ^ 255 = 2 ^ drop * 2 ^ (k - 1))%Z) by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
  assert (2 ^ (k - 1) <= m / 2 ^ drop)%Z by (apply Z.div_le_lower_bound; lia). lia.
Qed.

(* `sticky` says that the magnitude is more than `m * 2^e`. Then the mantissa must reach the bit below the last one of
   the result. *)
Theorem roundTo_correct : forall (negative : bool) (m e : Z) (sticky : bool) (x : R),
  (0 <= m < W)%Z -> (- 2 ^ 254 <= e <= 2 ^ 254)%Z ->
  (if sticky then IZR m * bpow radix2 e < x < IZR (m + 1) * bpow radix2 e else x = IZR m * bpow radix2 e) ->
  (sticky = true -> 2 ^ (mw + 1) <= m \/ e <= lowest - 1)%Z ->
  rounds_to (if negative then - x else x) (roundTo negative m e sticky).
Proof.
  intros negative m e sticky x Hm He Hx Hpre. fold (negated negative x).
  pose proof (sizes mw ew Hmw Hew Hmax) as (P & Q & HS & D & Qe & HI & _).
  pose proof (INFINITY_positive mw ew Hmw Hew Hmax) as HIP.
  assert (Hhigh : (1 <= highest < 2 ^ 16)%Z).
  { unfold Format.highest. assert (emax <= 2 ^ 15)%Z by (apply Z.pow_le_mono_r; lia). lia. }
  assert (Hlow : (lowest = 1 - highest - mw)%Z) by reflexivity.
  assert (Hbe : 0 < bpow radix2 e) by apply bpow_gt_0.
  unfold roundTo. destruct (Z.eqb_spec m 0) as [M0|M0].
  { subst m. destruct sticky.
    - assert (Hx' : 0 < x < bpow radix2 e) by (simpl in Hx; lra).
      destruct (Hpre eq_refl) as [K|K]; [assert (0 < 2 ^ (mw + 1))%Z by (apply pow_pos; lia); lia|].
      apply rounds_tiny; [lra|].
      assert (Hmag : (mag radix2 x <= lowest - 1)%Z).
      { apply mag_le_bpow; [apply Rgt_not_eq; lra|]. rewrite Rabs_pos_eq by lra. apply Rlt_le_trans with (1 := proj2 Hx'). apply bpow_le. exact K. }
      apply round_N_small with (ex := mag radix2 x).
      + split; [apply bpow_mag_le, Rgt_not_eq; lra|apply bpow_mag_gt].
      + rewrite fexp_is. lia.
    - rewrite Hx, Rmult_0_l. apply rounds_zero. }
  destruct (clz_spec m ltac:(lia)) as [Hl HM]. set (lead := clz m) in *. clearbody lead.
  assert (HM' : (0 <= m * 2 ^ lead < W)%Z) by (unfold W in *; lia).
  rewrite shl_small by lia. set (M := (m * 2 ^ lead)%Z) in *.
  assert (HMg : (M mod 2 ^ lead = 0)%Z) by (apply Z.mod_mul; assert (0 < 2 ^ lead)%Z by (apply pow_pos; lia); lia).
  rewrite !(int_small (e + 255)) by lia. rewrite !(int_small (e + 255 - lead)) by lia.
  set (e' := (e - lead)%Z). replace (e + 255 - lead)%Z with (e' + 255)%Z by (unfold e'; lia).
  assert (Hb : between M lead e' sticky x).
  { assert (EM : forall z : Z, IZR (z * 2 ^ lead) * bpow radix2 e' = IZR z * bpow radix2 e).
    { intros z. unfold e'. rewrite mult_IZR, Rmult_assoc. f_equal.
      replace (IZR (2 ^ lead)) with (bpow radix2 lead) by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
      rewrite <- bpow_plus. f_equal. lia. }
    unfold between. unfold M at 1 3. replace (M + 2 ^ lead)%Z with ((m + 1) * 2 ^ lead)%Z by (unfold M; ring).
    rewrite !EM. exact Hx. }
  assert (Hmag : mag radix2 x = (e' + 256)%Z :> Z) by (apply mag_of with M lead sticky; try assumption; lia).
  assert (HbM : 0 < IZR M * bpow radix2 e').
  { apply Rmult_lt_0_compat; [apply IZR_lt; unfold W in *; lia|apply bpow_gt_0]. }
  assert (Hx0 : 0 < x) by (unfold between in Hb; destruct sticky; lra).
  assert (Hcexp : cexp radix2 (SpecFloat.fexp prec emax) x = Z.max (e' + 256 - prec) lowest).
  { unfold cexp. rewrite Hmag. apply fexp_is. }
  (* The bits that are dropped are more than those below the mantissa. *)
  assert (Hstick : sticky = true -> (lead < Z.max (e' + 256 - prec) lowest - e')%Z).
  { intros K. destruct (Hpre K) as [A|A]; [|unfold e'; lia].
    assert (lead <= 255 - (mw + 1))%Z; [|lia].
    destruct (Z.le_gt_cases lead (255 - (mw + 1))) as [L|L]; [assumption|exfalso].
    assert (2 ^ (mw + 1) * 2 ^ (256 - (mw + 1)) <= m * 2 ^ lead)%Z.
    { apply Z.mul_le_mono_nonneg; try (apply Z.lt_le_incl, pow_pos; lia); [assumption|apply Z.pow_le_mono_r; lia]. }
    rewrite <- Z.pow_add_r in H by lia. replace (mw + 1 + (256 - (mw + 1)))%Z with 256%Z in H by lia. unfold W, M in *. lia. }
  set (top := (e' + 255)%Z) in *.
  destruct (Z.ltb_spec highest top) as [T|T].
  { rewrite withSign_signed by lia. apply rounds_infinite; [assumption|].
    apply Rle_trans with (rounded (bpow radix2 emax)).
    - right. symmetry. apply round_generic; [apply valid_rnd_N|].
      apply generic_format_bpow. rewrite fexp_is. rewrite Hlow. unfold Format.highest in *. lia.
    - apply round_le; [apply fexp_correct; unfold Prec_gt_0; lia|apply valid_rnd_N|].
      apply Rle_trans with (bpow radix2 (mag radix2 x - 1)).
      + apply bpow_le. rewrite Hmag. unfold Format.highest in *. lia.
      + apply Rle_trans with (Rabs x); [apply bpow_mag_le, Rgt_not_eq; lra|rewrite Rabs_pos_eq; lra]. }
  destruct (Z.ltb_spec (- highest) top) as [T2|T2].
  - (* normal *)
    rewrite sub_small by (unfold W; lia).
    destruct (roundBits_range M (255 - mw) sticky (mw + 1) HM ltac:(lia) ltac:(lia)) as [Rlo Rhi].
    specialize (Rlo ltac:(lia)). replace (mw + 1 - 1)%Z with mw in Rlo by lia.
    assert (E2 : (2 ^ (mw + 1) = 2 * 2 ^ mw)%Z) by (rewrite Z.pow_add_r by lia; lia).
    assert (Hround : rounded x = IZR (roundBits M (255 - mw) sticky) * bpow radix2 (top - mw)).
    { replace (255 - mw)%Z with (top - mw - e')%Z by (unfold top; lia).
      apply round_at with lead; try assumption; try (unfold top in *; lia).
      all: try (intros K; specialize (Hstick K)); try rewrite Hcexp; unfold top in *; lia. }
    set (rb := roundBits M (255 - mw) sticky) in *. clearbody rb.
    rewrite (int_small (top + highest)) by lia. rewrite int_small by lia.
    set (k := (top + highest - 1)%Z).
    assert (HW : (2 * 2 ^ mw + k * 2 ^ mw <= INFINITY)%Z).
    { rewrite HI, Qe. assert (k + 2 <= 2 * emax - 1)%Z by (unfold k, Format.highest in *; lia). nia. }
    assert (HSW : (SIGN < W)%Z) by (unfold Format.SIGN, W; apply Z.pow_lt_mono_r; lia).
    assert (Hk0 : (0 <= k)%Z) by (unfold k; lia).
    assert (HkW : (0 <= k * 2 ^ mw)%Z) by (apply Z.mul_nonneg_nonneg; lia).
    rewrite uint_small by (unfold W; unfold k; lia). rewrite shl_small by lia. rewrite add_small by lia.
    rewrite withSign_signed by lia.
    assert (Hmagn : magnitude (rb + k * 2 ^ mw) = rounded x).
    { rewrite magnitude_normal by (try assumption; lia). rewrite Hround. f_equal. f_equal. unfold k. rewrite Hlow. lia. }
    destruct (Z.eq_dec (rb + k * 2 ^ mw) INFINITY) as [F|F].
    + rewrite F. apply rounds_infinite; [assumption|].
      (* the carry out of the largest binade *)
      assert (Erb : rb = (2 * 2 ^ mw)%Z) by lia.
      assert (Ek : (k = 2 * emax - 3)%Z) by (rewrite HI, Qe, Erb in F; nia).
      rewrite Hround, Erb, <- E2. replace (IZR (2 ^ (mw + 1))) with (bpow radix2 (mw + 1))
        by (rewrite <- (IZR_Zpower radix2) by lia; reflexivity).
      rewrite <- bpow_plus. apply bpow_le. unfold k, Format.highest in *. lia.
    + apply rounds_finite; [lia|intros; lia|symmetry; exact Hmagn].
  - rewrite (int_small (lowest - 1)) by lia. destruct (Z.ltb_spec top (lowest - 1)) as [T3|T3].
    + apply rounds_tiny; [lra|]. apply round_N_small with (ex := mag radix2 x).
      * split; [apply bpow_mag_le, Rgt_not_eq; lra|apply bpow_mag_gt].
      * rewrite Hmag, fexp_is. unfold top in *. lia.
    + (* subnormal *)
      rewrite (int_small (top - lowest)) by lia. rewrite int_small by lia. rewrite uint_small by (unfold W; lia).
      set (drop := (255 - (top - lowest))%Z).
      destruct (roundBits_range M drop sticky (256 - drop) HM ltac:(unfold drop; lia) eq_refl) as [_ Rhi].
      assert (Hround : rounded x = IZR (roundBits M drop sticky) * bpow radix2 lowest).
      { replace drop with (lowest - e')%Z by (unfold drop, top; lia).
        apply round_at with lead; try assumption; try (unfold top in *; lia).
        all: try (intros K; specialize (Hstick K)); try rewrite Hcexp; unfold top in *; lia. }
      set (rb := roundBits M drop sticky) in *. clearbody rb.
      assert (Hle : (2 ^ (256 - drop) <= 2 ^ mw)%Z) by (apply Z.pow_le_mono_r; unfold drop; lia).
      assert (HPI : (2 ^ mw < INFINITY)%Z).
      { rewrite HI, Qe. assert (2 <= emax)%Z by lia. nia. }
      assert (Hmagn : magnitude rb = rounded x) by (rewrite magnitude_subnormal by (try assumption; lia); symmetry; exact Hround).
      destruct (Z.eqb_spec rb 0) as [Z0|Z0].
      * apply rounds_tiny; [lra|]. rewrite Hround, Z0. apply Rmult_0_l.
      * rewrite withSign_signed by lia. apply rounds_finite; [lia|intros; assumption|symmetry; exact Hmagn].
Qed.

End RoundTo.

(* Float.roundTo of the four types. *)
Definition roundTo_float16 := roundTo_correct 10 5 eq_refl eq_refl eq_refl ltac:(lia) ltac:(lia).
Definition roundTo_bfloat16 := roundTo_correct 7 8 eq_refl eq_refl eq_refl ltac:(lia) ltac:(lia).
Definition roundTo_float32 := roundTo_correct 23 8 eq_refl eq_refl eq_refl ltac:(lia) ltac:(lia).
Definition roundTo_float64 := roundTo_correct 52 11 eq_refl eq_refl eq_refl ltac:(lia) ltac:(lia).
