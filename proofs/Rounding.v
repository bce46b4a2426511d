(* SPDX-License-Identifier: MIT *)
(* Float32.roundBits and Float.roundTo, and what a rounded word is. *)
Require Import ZArith Reals Lia Lra Bool.
From Flocq Require Import Core.
Require Import Evm.
Open Scope Z_scope.

(* Float32.roundBits *)
Definition roundBits (mantissa drop : Z) (sticky : bool) : Z :=
  let word := shr drop mantissa in
  let rest := shl (sub 256 drop) mantissa in
  add word (gt rest (sub (shl 255 1) (Z.lor (Z.land word 1) (b2z sticky)))).

Definition up (m drop : Z) (sticky : bool) : bool :=
  let r := 2 * (m mod 2 ^ drop) in
  (2 ^ drop <? r) || ((2 ^ drop =? r) && (Z.odd (m / 2 ^ drop) || sticky)).

Lemma roundBits_integers : forall m drop sticky, 0 <= m < W -> 0 < drop <= 256 ->
  roundBits m drop sticky = m / 2 ^ drop + b2z (up m drop sticky).
Proof.
  intros m drop sticky Hm Hd. unfold roundBits. rewrite shr_div by lia.
  set (w := m / 2 ^ drop). set (r := m mod 2 ^ drop). set (k := 2 ^ (256 - drop)).
  assert (Hk : 0 < k) by (apply pow_pos; lia).
  assert (Hp : 2 ^ drop * k = 2 ^ 256) by (symmetry; apply pow_split; lia).
  assert (Hp0 : 0 < 2 ^ drop) by (apply pow_pos; lia).
  assert (Hr : 0 <= r < 2 ^ drop) by (apply Z.mod_pos_bound; lia).
  assert (Hpe : 2 <= 2 ^ drop) by (change 2 with (2 ^ 1) at 1; apply Z.pow_le_mono_r; lia).
  assert (Hw : 0 <= w <= 2 ^ 255).
  { unfold w. split; [apply Z.div_pos; lia|]. apply Z.div_le_upper_bound; [lia|]. unfold W in Hm. nia. }
  assert (Hrest : shl (sub 256 drop) m = r * k).
  { rewrite sub_small by (unfold W; lia). unfold shl, k, r, W in *.
    replace (256 - drop <? 256) with true by (symmetry; apply Z.ltb_lt; lia).
    rewrite <- Hp, Z.mul_mod_distr_r by lia. reflexivity. }
  rewrite Hrest.
  assert (Hl : Z.lor (Z.land w 1) (b2z sticky) = b2z (Z.odd w || sticky)).
  { change 1 with (2 ^ 1 - 1) at 1. rewrite land_ones_low by lia. change (2 ^ 1) with 2. rewrite Zmod_odd.
    destruct (Z.odd w), sticky; reflexivity. }
  rewrite Hl. clear Hl Hrest. unfold up. fold w r. set (c := Z.odd w || sticky). clearbody c.
  change (shl 255 1) with (2 ^ 255). rewrite sub_small by (destruct c; unfold b2z, W; lia).
  rewrite add_small by (unfold gt, b2z, W; destruct (_ <? _); lia).
  f_equal. unfold gt. f_equal. clearbody w r k.
  assert (H2 : 2 ^ 256 = 2 * 2 ^ 255) by reflexivity. rewrite H2 in Hp. clear H2 Hm Hw Hd.
  set (P := 2 ^ drop) in *. set (h := 2 ^ 255) in *. clearbody P h.
  destruct (Z.ltb_spec P (2 * r)) as [A|A]; cbn [orb andb].
  - apply Z.ltb_lt. destruct c; cbn [b2z]; nia.
  - destruct (Z.eqb_spec P (2 * r)) as [B|B]; cbn [orb andb].
    + assert (r * k = h) by nia. destruct c; cbn [b2z]; [apply Z.ltb_lt|apply Z.ltb_ge]; lia.
    + apply Z.ltb_ge. assert ((2 * r + 1) * k <= P * k) by nia.
      destruct c; cbn [b2z]; [|nia].
      destruct (Z.eq_dec k 1); [subst k; lia|nia].
Qed.

Open Scope R_scope.
(* The real is the mantissa, or between the mantissa and the next one: whose lowest `g` bits are zero, fewer than those
   that are dropped. *)
Theorem roundBits_correct : forall (m drop g : Z) (sticky : bool) (x : R), (0 <= m < W)%Z -> (0 < drop <= 256)%Z ->
  (0 <= g < drop)%Z -> (m mod 2 ^ g = 0)%Z ->
  (if sticky then IZR m < x < IZR (m + 2 ^ g) else x = IZR m) ->
  roundBits m drop sticky = ZnearestE (x / IZR (2 ^ drop)).
Proof.
  intros m drop g sticky x Hm Hd Hg Hmg Hx. rewrite roundBits_integers by assumption. unfold up.
  assert (He : (2 ^ drop = 2 * 2 ^ (drop - 1))%Z) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  assert (Hq : (2 ^ (drop - 1) = 2 ^ g * 2 ^ (drop - 1 - g))%Z) by (apply pow_split; lia).
  assert (HG : (0 < 2 ^ g)%Z) by (apply pow_pos; lia).
  assert (HT : (0 < 2 ^ (drop - 1 - g))%Z) by (apply pow_pos; lia).
  set (p := (2 ^ drop)%Z) in *. set (h := (2 ^ (drop - 1))%Z) in *. set (G := (2 ^ g)%Z) in *.
  set (T := (2 ^ (drop - 1 - g))%Z) in *.
  assert (Hp : (0 < p)%Z) by nia.
  pose proof (Z.div_mod m p ltac:(lia)) as Hm'. pose proof (Z.mod_pos_bound m p ltac:(lia)) as Hr.
  assert (HrG : exists t, (m mod p = t * G)%Z).
  { pose proof (Z.div_mod m G ltac:(lia)) as Hd'. rewrite Hmg in Hd'.
    exists (m / G - 2 * T * (m / p))%Z. rewrite He, Hq in Hm'. rewrite He, Hq. revert Hm' Hd'.
    generalize (m / (2 * (G * T)))%Z as q. generalize (m mod (2 * (G * T)))%Z as s. generalize (m / G)%Z as u.
    intros. replace s with (m - 2 * (G * T) * q)%Z by lia. rewrite Hd' at 1. ring. }
  revert Hm' Hr HrG. generalize (m / p)%Z as w. generalize (m mod p)%Z as r. intros r w Hm' Hr [t Ht].
  clearbody p h G T.
  (* the rest of x, below p *)
  set (y := x - IZR p * IZR w).
  assert (HpR : 0 < IZR p) by (apply IZR_lt; lia).
  assert (Hxy : x / IZR p = IZR w + y / IZR p) by (unfold y; field; lra).
  assert (HhR : IZR p = 2 * IZR h) by (rewrite He, mult_IZR; reflexivity).
  assert (Hy : if sticky then IZR r < y < IZR (r + G) else y = IZR r).
  { assert (IZR m = IZR p * IZR w + IZR r) by (rewrite Hm', plus_IZR, mult_IZR; reflexivity).
    assert (IZR (m + G) = IZR m + IZR G) by apply plus_IZR. unfold y. rewrite plus_IZR. destruct sticky; lra. }
  clearbody y. rewrite Hxy. clear Hx Hxy.
  assert (Hdiv : forall z, z / IZR p * IZR p = z) by (intros; field; lra).
  assert (Hstep : forall a, (t * G < a * G -> t * G + G <= a * G)%Z).
  { intros a Ha. apply Z.mul_lt_mono_pos_r in Ha; [|lia]. assert ((t + 1) * G <= a * G)%Z by (apply Z.mul_le_mono_nonneg_r; lia). lia. }
  assert (Htop : (r < h -> r + G <= h)%Z) by (rewrite Ht, Hq, (Z.mul_comm G); apply Hstep).
  assert (Htop' : (r + G <= p)%Z)
    by (replace p with (2 * T * G)%Z in * by lia; rewrite Ht in *; apply Hstep; lia).
  assert (HrR : 0 <= IZR r) by (apply IZR_le; lia).
  assert (H0y : 0 <= y / IZR p) by (apply Rmult_le_pos; [destruct sticky; lra|left; apply Rinv_0_lt_compat; lra]).
  assert (Hlt : forall a b, a < b * IZR p -> a / IZR p < b).
  { intros a b Hab. apply Rmult_lt_reg_r with (IZR p); [lra|]. rewrite Hdiv. exact Hab. }
  assert (Hgt : forall a b, b * IZR p < a -> b < a / IZR p).
  { intros a b Hab. apply Rmult_lt_reg_r with (IZR p); [lra|]. rewrite Hdiv. exact Hab. }
  destruct (Z.lt_trichotomy r h) as [L|[E|U]].
  - (* below half *)
    replace (p <? 2 * r)%Z with false by (symmetry; apply Z.ltb_ge; lia).
    replace (p =? 2 * r)%Z with false by (symmetry; apply Z.eqb_neq; lia). cbn [orb andb b2z].
    symmetry. rewrite Z.add_0_r. apply Znearest_imp.
    replace (IZR w + y / IZR p - IZR w) with (y / IZR p) by ring. rewrite Rabs_pos_eq by assumption.
    apply Hlt. assert (IZR (r + G) <= IZR h) by (apply IZR_le; lia). assert (IZR r < IZR h) by (apply IZR_lt; lia).
    destruct sticky; lra.
  - (* at half, or something more *)
    replace (p <? 2 * r)%Z with false by (symmetry; apply Z.ltb_ge; lia).
    replace (p =? 2 * r)%Z with true by (symmetry; apply Z.eqb_eq; lia). cbn [orb andb b2z]. rewrite E in *.
    assert (0 < IZR h) by (apply IZR_lt; lia).
    destruct sticky.
    + rewrite orb_true_r. cbn [b2z]. symmetry. apply Znearest_imp. rewrite plus_IZR.
      assert (IZR (h + G) <= IZR p) by (apply IZR_le; lia).
      assert (1 / 2 < y / IZR p) by (apply Hgt; lra). assert (y / IZR p < 1) by (apply Hlt; lra).
      rewrite Rabs_left by lra. lra.
    + rewrite orb_false_r. assert (Hh : y / IZR p = / 2) by (rewrite Hy, HhR; field; lra). rewrite Hh.
      unfold Znearest. assert (F : Zfloor (IZR w + / 2) = w) by (apply Zfloor_imp; rewrite plus_IZR; lra).
      rewrite F, Rcompare_Eq by lra. rewrite <- Z.negb_odd, negb_involutive.
      destruct (Z.odd w); cbn [b2z]; [|lia]. symmetry. rewrite Zceil_floor_neq; rewrite F; [reflexivity|lra].
  - (* above half *)
    replace (p <? 2 * r)%Z with true by (symmetry; apply Z.ltb_lt; lia). cbn [orb b2z].
    symmetry. apply Znearest_imp. rewrite plus_IZR.
    assert (IZR h < IZR r) by (apply IZR_lt; lia). assert (IZR (r + G) <= IZR p) by (apply IZR_le; lia).
    assert (IZR r < IZR p) by (apply IZR_lt; lia).
    assert (1 / 2 < y / IZR p) by (apply Hgt; destruct sticky; lra).
    assert (y / IZR p < 1) by (apply Hlt; destruct sticky; lra).
    rewrite Rabs_left by lra. lra.
Qed.
