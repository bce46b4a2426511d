(* SPDX-License-Identifier: MIT *)
(* src/circuits/rounding.ts, roundBits: whatever satisfies the constraints in a prime field has the rounded number. *)
Require Import ZArith Znumtheory Reals Lia Lra Bool List.
From Flocq Require Import Core.
Require Import Evm Rounding Format.
Import ListNotations.
Open Scope Z_scope.

(* Combinations of wires: pairs of a wire and a coefficient. Wire 0 holds the constant 1. *)
Definition linear := list (Z * Z).
Definition constraint := (linear * linear * linear)%type.
Definition ONE : linear := [(0, 1)].
Definition wire (n : Z) : linear := [(n, 1)].
Definition plus (a b : linear) (factor : Z) : linear := a ++ map (fun '(w, c) => (w, factor * c)) b.
Definition minus (a b : linear) : linear := plus a b (-1).

(* Circuit.bit; bits on wires one behind the other (freeBits), and the number of some of these, the lowest first. *)
Definition bit (n : Z) : constraint := (wire n, minus (wire n) ONE, []).
Fixpoint bitsFrom (count : nat) (n : Z) : list constraint :=
  match count with O => [] | S count => bit n :: bitsFrom count (n + 1) end.
Fixpoint fromBits (count : nat) (n weight : Z) : linear :=
  match count with O => [] | S count => (n, weight) :: fromBits count (n + 1) (2 * weight) end.

(* gadgets.ts, shift: the weights; the sum of weights whose bits are 1; the power of two, and the wires' end. *)
Fixpoint weights (steps : nat) (weight rest : Z) : list Z :=
  match steps with
  | O => []
  | S steps =>
    if 0 <? rest then Z.min weight rest :: weights steps (2 * weight) (rest - Z.min weight rest) else []
  end.
Fixpoint weighted (n : Z) (l : list Z) : linear :=
  match l with [] => [] | w :: l => (n, w) :: weighted (n + 1) l end.
Definition factor (n w : Z) : linear := plus ONE (wire n) (2 ^ w - 1).
Fixpoint powers (l : list Z) (n : Z) (power : linear) (next : Z) : linear * list constraint * Z :=
  match l with
  | [] => (power, [], next)
  | w :: l =>
    let '(result, cs, after) := powers l (n + 1) (wire next) (next + 1) in
    (result, (power, factor n w, wire next) :: cs, after)
  end.
Definition shift (most n : Z) : linear * linear * list constraint * Z :=
  let l := weights 256 1 most in
  let after := n + Z.of_nat (length l) in
  let '(power, cs, after) :=
    match l with [] => (ONE, [], after) | w :: rest => powers rest (n + 1) (factor n w) after end in
  (weighted n l, power, bitsFrom (length l) n ++ cs, after).

(* gadgets.ts, isNonzero on wires n and n + 1; rounding.ts, roundsUp *)
Definition isNonzero (value : linear) (n : Z) : list constraint :=
  [(value, wire n, wire (n + 1)); (value, minus ONE (wire (n + 1)), [])].
Definition roundsUp (half odd low : linear) (n : Z) : linear * list constraint * Z :=
  match low with
  | [] => (wire n, [(half, odd, wire n)], n + 1)
  | _ =>
    let either := plus odd (wire (n + 2)) 1 in
    (wire (n + 3), isNonzero low n ++ [(minus ONE odd, wire (n + 1), wire (n + 2)); (half, either, wire (n + 3))], n + 4)
  end.

(* rounding.ts, roundBits of a number of at most L bits to M significant bits in units of 2^D; `isSigned`: the number may
   be below zero. The result, the constraints, and the next free wire. *)
Definition signFactor (n : Z) : linear := plus ONE (wire n) (-2).
Definition gadget (L M D : Z) (isSigned : bool) (value : linear) (n : Z) : linear * list constraint * Z :=
  let most := L - M - D in
  let '(magnitude, signs, n0) :=
    if isSigned then (wire (n + 1), [bit n; (signFactor n, value, wire (n + 1))], n + 2) else (value, [], n) in
  let '(amount, power, shifts, n1) := shift most n0 in
  let first := n1 in
  let at_ k := first + k in
  let n2 := first + L in
  let top := wire (at_ (L - 1)) in
  let half := wire (at_ (L - M - 1)) in
  let low := fromBits (Z.to_nat (L - M - 1)) first 1 in
  let kept := fromBits (Z.to_nat M) (at_ (L - M)) 1 in
  let '(up, ups, n3) := roundsUp half (wire (at_ (L - M))) low n2 in
  let rounded := plus kept up 1 in
  let '(result, backs, n4) :=
    if 0 <? most then
      (wire (n3 + 1), [(wire n3, power, [(0, 2 ^ most)]); (rounded, wire n3, wire (n3 + 1))], n3 + 2)
    else (rounded, [], n3) in
  let '(signed, ends, n5) :=
    if isSigned then (wire n4, [(signFactor n, result, wire n4)], n4 + 1) else (result, [], n4) in
  (signed,
    signs ++ shifts ++ bitsFrom (Z.to_nat L) first
      ++ [(magnitude, power, fromBits (Z.to_nat L) first 1)]
      ++ (if 0 <? most then [(minus ONE top, minus [(0, most)] amount, [])] else [])
      ++ (if 0 <? D then [(minus ONE top, plus low half (2 ^ (L - M - 1)), [])] else [])
      ++ ups ++ backs ++ ends,
    n5).

(* An assignment, and what a constraint says in the field of `order` elements. *)
Definition eval (env : Z -> Z) (l : linear) : Z := fold_right (fun '(w, c) sum => c * env w + sum) 0 l.
Definition holds (order : Z) (env : Z -> Z) (c : constraint) : Prop :=
  let '(x, y, z) := c in (eval env x * eval env y - eval env z) mod order = 0.
(* The number in the field is the integer. *)
Definition stands_for (order : Z) (env : Z -> Z) (l : linear) (x : Z) : Prop := (eval env l - x) mod order = 0.

Section Sound.

Variable r : Z.
Hypothesis r_prime : prime r.
Hypothesis r_large : 2 ^ 253 <= r.
Variable env : Z -> Z.
Hypothesis env_one : env 0 = 1.
Hypothesis env_range : forall w, 0 <= env w < r.

Definition same (a b : Z) : Prop := (r | a - b).
Lemma r_positive : 0 < r.
Proof. apply Z.lt_le_trans with (2 := r_large). reflexivity. Qed.
Lemma mod_same : forall a b, (a - b) mod r = 0 <-> same a b.
Proof. intros. pose proof r_positive. apply Z.mod_divide. lia. Qed.
Lemma same_refl : forall a, same a a.
Proof. intros. unfold same. rewrite Z.sub_diag. apply Z.divide_0_r. Qed.
Lemma same_sym : forall a b, same a b -> same b a.
Proof. intros a b [k H]. exists (- k). lia. Qed.
Lemma same_trans : forall a b c, same a b -> same b c -> same a c.
Proof. intros a b c [k H] [j J]. exists (k + j). lia. Qed.
Lemma same_add : forall a b c d, same a b -> same c d -> same (a + c) (b + d).
Proof. intros a b c d [k H] [j J]. exists (k + j). lia. Qed.
Lemma same_mul : forall a b c d, same a b -> same c d -> same (a * c) (b * d).
Proof.
  intros a b c d [k H] [j J]. exists (k * c + b * j). replace (a * c - b * d) with ((a - b) * c + b * (c - d)) by ring.
  rewrite H, J. ring.
Qed.
Lemma same_equal : forall a b, same a b -> Z.abs (a - b) < r -> a = b.
Proof. intros a b [k H] B. rewrite H, Z.abs_mul, (Z.abs_eq r) in B by (pose proof r_positive; lia). assert (k = 0) by (pose proof r_positive; nia). subst k. lia. Qed.
Lemma same_zero : forall a b, same (a * b) 0 -> same a 0 \/ same b 0.
Proof. unfold same. intros a b. rewrite !Z.sub_0_r. apply prime_mult. exact r_prime. Qed.
Lemma same_cancel : forall a b c, same (a * c) (b * c) -> ~ same c 0 -> same a b.
Proof.
  intros a b c H N. destruct (same_zero (a - b) c) as [K|K].
  - destruct H as [k H]. exists k. lia.
  - destruct K as [k K]. exists k. lia.
  - contradiction.
Qed.

Lemma holds_is : forall a b c, holds r env (a, b, c) <-> same (eval env a * eval env b) (eval env c).
Proof. intros. apply mod_same. Qed.

Lemma eval_app : forall a b, eval env (a ++ b) = eval env a + eval env b.
Proof. induction a as [|[w c] a IH]; intros; cbn [app eval fold_right]; [reflexivity|]. fold (eval env (a ++ b)) (eval env a). rewrite IH. lia. Qed.
Lemma eval_plus : forall a b f, eval env (plus a b f) = eval env a + f * eval env b.
Proof.
  intros. unfold plus. rewrite eval_app. f_equal. induction b as [|[w c] b IH]; cbn [map eval fold_right]; [lia|].
  unfold eval in IH. rewrite IH. lia.
Qed.
Lemma eval_minus : forall a b, eval env (minus a b) = eval env a - eval env b.
Proof. intros. unfold minus. rewrite eval_plus. lia. Qed.
Lemma eval_wire : forall n, eval env (wire n) = env n.
Proof. intros. unfold wire, eval. cbn [fold_right]. lia. Qed.
Lemma eval_one : eval env ONE = 1.
Proof. unfold ONE, eval. cbn [fold_right]. lia. Qed.

Lemma bit_is : forall n, holds r env (bit n) -> env n = 0 \/ env n = 1.
Proof.
  intros n H. apply holds_is in H. rewrite eval_minus, eval_wire, eval_one in H. cbn [eval fold_right] in H.
  pose proof (env_range n). pose proof r_positive.
  destruct (same_zero _ _ H) as [K|K]; apply same_equal in K; lia.
Qed.

Fixpoint number (count : nat) (n : Z) : Z := match count with O => 0 | S count => env n + 2 * number count (n + 1) end.

Lemma eval_bits : forall count n weight, eval env (fromBits count n weight) = weight * number count n.
Proof.
  induction count as [|c IH]; intros; cbn [fromBits eval fold_right number]; [lia|].
  fold (eval env (fromBits c (n + 1) (2 * weight))). rewrite IH. ring.
Qed.

Lemma bits_are : forall count n, Forall (holds r env) (bitsFrom count n) ->
  (forall k, 0 <= k < Z.of_nat count -> env (n + k) = 0 \/ env (n + k) = 1).
Proof.
  induction count as [|c IH]; intros n H k Hk; [lia|]. cbn [bitsFrom] in H. inversion H as [|x l A B]; subst.
  destruct (Z.eq_dec k 0) as [->|N]; [rewrite Z.add_0_r; apply bit_is; exact A|].
  replace (n + k) with (n + 1 + (k - 1)) by lia. apply IH; [exact B|lia].
Qed.

Lemma number_range : forall count n, (forall k, 0 <= k < Z.of_nat count -> env (n + k) = 0 \/ env (n + k) = 1) ->
  0 <= number count n < 2 ^ Z.of_nat count.
Proof.
  induction count as [|c IH]; intros n H; [cbn; lia|]. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. cbn [number].
  pose proof (H 0 ltac:(lia)) as H0. rewrite Z.add_0_r in H0.
  pose proof (IH (n + 1) ltac:(intros k Hk; replace (n + 1 + k) with (n + (k + 1)) by lia; apply H; lia)). lia.
Qed.

Lemma number_split : forall a b n, number (a + b) n = number a n + 2 ^ Z.of_nat a * number b (n + Z.of_nat a).
Proof.
  induction a as [|a IH]; intros b n.
  - cbn [Nat.add number]. change (2 ^ Z.of_nat 0) with 1. rewrite Z.add_0_r. lia.
  - cbn [Nat.add number]. rewrite IH, Nat2Z.inj_succ, Z.pow_succ_r by lia.
    replace (n + 1 + Z.of_nat a) with (n + Z.succ (Z.of_nat a)) by lia. ring.
Qed.

Definition sumOf (l : list Z) : Z := fold_right Z.add 0 l.

(* Weights are positive, and their sum is what a shift may be at most. *)
Lemma weights_are : forall steps weight rest, 1 <= weight -> 0 <= rest <= weight * (2 ^ Z.of_nat steps - 1) ->
  Forall (fun w => 0 <= w) (weights steps weight rest) /\ sumOf (weights steps weight rest) = rest.
Proof.
  induction steps as [|s IH]; intros weight rest Hw Hr; cbn [weights].
  - change (2 ^ Z.of_nat 0) with 1 in Hr. split; [constructor|]. cbn. lia.
  - rewrite Nat2Z.inj_succ, Z.pow_succ_r in Hr by lia. destruct (Z.ltb_spec 0 rest) as [P|P].
    + destruct (IH (2 * weight) (rest - Z.min weight rest)) as [A B]; [lia|nia|].
      split; [constructor; [lia|exact A]|]. unfold sumOf in *. cbn [fold_right]. rewrite B. lia.
    + split; [constructor|]. cbn. lia.
Qed.

(* The exponent that bits on wires from n on choose. *)
Fixpoint chosen (n : Z) (l : list Z) : Z := match l with [] => 0 | w :: l => w * env n + chosen (n + 1) l end.

Lemma chosen_is : forall l n, eval env (weighted n l) = chosen n l.
Proof. induction l as [|w l IH]; intros; cbn [weighted eval fold_right chosen]; [reflexivity|]. f_equal. apply IH. Qed.

Lemma chosen_range : forall l n, Forall (fun w => 0 <= w) l ->
  (forall k, 0 <= k < Z.of_nat (length l) -> env (n + k) = 0 \/ env (n + k) = 1) -> 0 <= chosen n l <= sumOf l.
Proof.
  induction l as [|w l IH]; intros n Hl H; [cbn; lia|]. inversion Hl; subst. cbn [length] in H. rewrite Nat2Z.inj_succ in H.
  pose proof (H 0 ltac:(lia)) as H0. rewrite Z.add_0_r in H0. unfold sumOf in *. cbn [chosen fold_right].
  pose proof (IH (n + 1) ltac:(assumption) ltac:(intros k Hk; replace (n + 1 + k) with (n + (k + 1)) by lia; apply H; lia)).
  destruct H0 as [-> | ->]; lia.
Qed.

Lemma factor_is : forall n w, 0 <= w -> env n = 0 \/ env n = 1 -> eval env (factor n w) = 2 ^ (w * env n).
Proof.
  intros n w Hw H. unfold factor. rewrite eval_plus, eval_one, eval_wire.
  destruct H as [-> | ->]; [rewrite !Z.mul_0_r; reflexivity|]. rewrite !Z.mul_1_r. lia.
Qed.

Lemma powers_are : forall l n power next e, Forall (fun w => 0 <= w) l ->
  (forall k, 0 <= k < Z.of_nat (length l) -> env (n + k) = 0 \/ env (n + k) = 1) -> 0 <= e -> same (eval env power) (2 ^ e) ->
  let '(result, cs, _) := powers l n power next in
  Forall (holds r env) cs -> same (eval env result) (2 ^ (e + chosen n l)).
Proof.
  induction l as [|w l IH]; intros n power next e Hl H He Hp; cbn [powers chosen].
  - intros _. rewrite Z.add_0_r. exact Hp.
  - inversion Hl as [|x y W1 W2]; subst. cbn [length] in H. rewrite Nat2Z.inj_succ in H.
    pose proof (H 0 ltac:(lia)) as H0. rewrite Z.add_0_r in H0.
    pose proof (fun E => IH (n + 1) (wire next) (next + 1) (e + w * env n) W2
      ltac:(intros k Hk; replace (n + 1 + k) with (n + (k + 1)) by lia; apply H; lia) ltac:(destruct H0 as [-> | ->]; lia) E) as R.
    destruct (powers l (n + 1) (wire next) (next + 1)) as [[result cs] after]. intros F. inversion F as [|x y C1 C2]; subst.
    rewrite Z.add_assoc. apply R; [|exact C2]. apply holds_is in C1. rewrite factor_is in C1 by assumption.
    apply same_trans with (1 := same_sym _ _ C1). rewrite Z.pow_add_r by (destruct H0 as [E|E]; rewrite ?E; lia).
    apply same_mul; [exact Hp|apply same_refl].
Qed.

Lemma shift_is : forall most n, 0 <= most <= 2 ^ 200 ->
  let '(amount, power, cs, _) := shift most n in
  Forall (holds r env) cs -> exists s, 0 <= s <= most /\ eval env amount = s /\ same (eval env power) (2 ^ s).
Proof.
  intros most n Hm. unfold shift. destruct (weights_are 256 1 most) as [P S]; [lia|split; [lia|]|].
  { change (2 ^ Z.of_nat 256) with (2 ^ 256). lia. }
  destruct (weights 256 1 most) as [|w rest].
  - cbn [app length bitsFrom weighted]. intros _. exists 0. cbn in S. split; [lia|]. split; [reflexivity|]. rewrite eval_one. apply same_refl.
  - inversion P as [|x y P1 P2]; subst x y.
    assert (B : forall k : Z, Forall (holds r env) (bitsFrom (length (w :: rest)) n) -> 0 <= k < Z.of_nat (length (w :: rest)) -> env (n + k) = 0 \/ env (n + k) = 1)
      by (intros k F; apply bits_are; exact F).
    pose proof (powers_are rest (n + 1) (factor n w) (n + Z.of_nat (length (w :: rest)))) as R.
    destruct (powers rest (n + 1) (factor n w) (n + Z.of_nat (length (w :: rest)))) as [[power cs] after].
    intros F. apply Forall_app in F. destruct F as [F1 F2].
    assert (B' : forall k : Z, 0 <= k < Z.of_nat (length (w :: rest)) -> env (n + k) = 0 \/ env (n + k) = 1) by (intros k; apply B; exact F1).
    pose proof (chosen_range (w :: rest) n P B') as C. rewrite S in C.
    cbn [length] in B'. rewrite Nat2Z.inj_succ in B'.
    pose proof (B' 0 ltac:(lia)) as B0. rewrite Z.add_0_r in B0.
    exists (chosen n (w :: rest)). split; [exact C|]. split; [apply chosen_is|]. cbn [chosen].
    apply (R (w * env n)); [exact P2| |destruct B0 as [-> | ->]; lia| |exact F2].
    + intros k Hk. replace (n + 1 + k) with (n + (k + 1)) by lia. apply B'. lia.
    + rewrite factor_is by assumption. apply same_refl.
Qed.

Definition roundedUp (half odd low : Z) : Z := if (half =? 1) && ((odd =? 1) || negb (low =? 0)) then 1 else 0.

Lemma roundsUp_is : forall half odd low n, (eval env half = 0 \/ eval env half = 1) -> (eval env odd = 0 \/ eval env odd = 1) ->
  0 <= eval env low < 2 ^ 252 ->
  let '(up, cs, _) := roundsUp half odd low n in
  Forall (holds r env) cs -> same (eval env up) (roundedUp (eval env half) (eval env odd) (eval env low)).
Proof.
  intros half odd low n Hh Ho Hl. unfold roundsUp. destruct low as [|x low].
  - intros F. inversion F as [|a b C _]; subst. apply holds_is in C. apply same_sym in C. apply same_trans with (1 := C).
    cbn [eval fold_right]. unfold roundedUp. destruct Hh as [-> | ->], Ho as [-> | ->]; apply same_refl.
  - set (l := x :: low) in *. clearbody l. intros F. unfold isNonzero in F. cbn [app] in F.
    inversion F as [|a1 b1 C1 F1]; subst. inversion F1 as [|a2 b2 C2 F2]; subst. inversion F2 as [|a3 b3 C3 F3]; subst.
    inversion F3 as [|a4 b4 C4 _]; subst. clear F F1 F2 F3. rewrite holds_is in C1, C2, C3, C4.
    rewrite eval_minus, eval_one in C2, C3. rewrite eval_plus, Z.mul_1_l in C4. rewrite !eval_wire in *.
    assert (N : same (env (n + 1)) (b2z (negb (eval env l =? 0)))).
    { destruct (Z.eqb_spec (eval env l) 0) as [E|E]; cbn [negb b2z].
      - rewrite E, Z.mul_0_l in C1. apply same_sym. exact C1.
      - cbn [eval fold_right] in C2. fold (eval env l) in C2. destruct (same_zero _ _ C2) as [K|K].
        + apply same_equal in K; [contradiction|]. apply Z.lt_le_trans with (2 := r_large). rewrite Z.sub_0_r, Z.abs_eq by lia.
          apply Z.lt_trans with (1 := proj2 Hl). reflexivity.
        + destruct K as [k K]. exists (- k). lia. }
    apply same_sym in C4. apply same_trans with (1 := C4). apply same_sym in C3.
    apply same_trans with (eval env half * (eval env odd + (1 - eval env odd) * b2z (negb (eval env l =? 0)))).
    + apply same_mul; [apply same_refl|]. apply same_add; [apply same_refl|]. apply same_trans with (1 := C3).
      apply same_mul; [apply same_refl|exact N].
    + unfold roundedUp. destruct Hh as [-> | ->], Ho as [-> | ->], (eval env l =? 0); apply same_refl.
Qed.

(* The rounding of an integer to M significant bits by Flocq: half to even, without a least exponent. *)
Definition rounded_to (M : Z) (x : R) : R := round radix2 (FLX_exp M) ZnearestE x.

Lemma even_up : forall b d q w, b = w + 2 ^ d * q -> 0 <= w < 2 ^ d -> 0 < d ->
  (up b d false = (2 ^ d <? 2 * w) || ((2 ^ d =? 2 * w) && Z.odd q)) /\ b / 2 ^ d = q.
Proof.
  intros b d q w -> Hw Hd. unfold up.
  assert (Q : (w + 2 ^ d * q) / 2 ^ d = q) by (symmetry; apply Z.div_unique with w; lia).
  assert (R : (w + 2 ^ d * q) mod 2 ^ d = w) by (symmetry; apply Z.mod_unique with q; lia).
  rewrite Q, R, orb_false_r. split; reflexivity.
Qed.

Lemma bpow_IZR : forall e, 0 <= e -> bpow radix2 e = IZR (2 ^ e).
Proof. intros e H. rewrite <- (IZR_Zpower radix2) by exact H. reflexivity. Qed.

(* The rounded magnitude: m is moved up by s places to b. *)
Lemma rounded_magnitude : forall L M D m s b, 0 < M -> 0 <= D -> M + D <= L -> M < L -> L <= 252 -> 0 <= s <= L - M - D ->
  b = m * 2 ^ s -> 0 <= b < 2 ^ L ->
  (2 ^ (L - 1) <= b \/ (s = L - M - D /\ b < 2 ^ (L - 1) /\ (0 < D -> b mod 2 ^ (L - M) = 0))) ->
  let k := b / 2 ^ (L - M) + b2z (up b (L - M) false) in
  IZR (k * 2 ^ (L - M - D - s) * 2 ^ D) = rounded_to M (IZR m).
Proof.
  intros L M D m s b HM HD HMD HML HL Hs Hb Hr H. cbv zeta.
  assert (Ps : 0 < 2 ^ s) by (apply pow_pos; lia). assert (Pd : 0 < 2 ^ (L - M)) by (apply pow_pos; lia).
  rewrite <- roundBits_integers; [|split; [lia|apply Z.lt_le_trans with (1 := proj2 Hr); apply Z.pow_le_mono_r; lia]|lia].
  rewrite (roundBits_correct b (L - M) 0 false (IZR b)); [| split; [lia|apply Z.lt_le_trans with (1 := proj2 Hr); apply Z.pow_le_mono_r; lia]
    |lia|lia|apply Z.mod_1_r|reflexivity].
  unfold rounded_to. destruct H as [H|[Es [H Hd]]].
  - (* all M bits are there *)
    assert (M0 : 0 < m) by (assert (0 < 2 ^ (L - 1)) by (apply pow_pos; lia); nia).
    assert (Mg : mag radix2 (IZR m) = L - s :> Z).
    { apply mag_unique_pos. rewrite !bpow_IZR by lia. split; [apply IZR_le|apply IZR_lt].
      - apply Z.mul_le_mono_pos_r with (2 ^ s); [exact Ps|]. rewrite <- Hb, <- Z.pow_add_r by lia.
        replace (L - s - 1 + s) with (L - 1) by lia. exact H.
      - apply Z.mul_lt_mono_pos_r with (2 ^ s); [exact Ps|]. rewrite <- Hb, <- Z.pow_add_r by lia.
        replace (L - s + s) with L by lia. apply Hr. }
    unfold round, F2R, scaled_mantissa, cexp, FLX_exp. rewrite Mg. cbn [Fnum Fexp].
    assert (E : (IZR m * bpow radix2 (- (L - s - M)) = IZR b / IZR (2 ^ (L - M)))%R).
    { rewrite Hb, mult_IZR. rewrite <- !bpow_IZR by lia. unfold Rdiv. rewrite <- bpow_opp, Rmult_assoc, <- bpow_plus. f_equal. f_equal. lia. }
    rewrite E, bpow_IZR by lia. rewrite <- mult_IZR. f_equal. rewrite <- Z.mul_assoc, <- Z.pow_add_r by lia. f_equal. f_equal. lia.
  - (* m is short: nothing is rounded *)
    assert (Z0 : b mod 2 ^ (L - M) = 0).
    { destruct (Z.eq_dec D 0) as [->|N]; [|apply Hd; lia]. rewrite Hb, Es. replace (L - M - 0) with (L - M) by lia. apply Z.mod_mul. lia. }
    pose proof (Z.div_mod b (2 ^ (L - M)) ltac:(lia)) as Q. rewrite Z0, Z.add_0_r in Q. set (k := b / 2 ^ (L - M)) in *.
    assert (K : (IZR b / IZR (2 ^ (L - M)) = IZR k)%R).
    { rewrite Q, mult_IZR. field. apply IZR_neq. lia. }
    rewrite K. rewrite (Znearest_imp _ _ k) by (rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; lra).
    replace (L - M - D - s) with 0 by lia. rewrite Z.mul_1_r.
    assert (Mk : m = k * 2 ^ D).
    { apply Z.mul_reg_r with (2 ^ s); [lia|]. rewrite <- Hb, Q, Es. rewrite <- Z.mul_assoc, <- Z.pow_add_r by lia.
      replace (D + (L - M - D)) with (L - M) by lia. ring. }
    symmetry. rewrite <- Mk. apply round_generic; [apply valid_rnd_N|].
    apply generic_format_FLX. exists (Float radix2 k D).
    + unfold F2R. cbn [Fnum Fexp]. rewrite bpow_IZR by lia. rewrite <- mult_IZR, <- Mk. reflexivity.
    + cbn [Fnum]. change (Zpower radix2 M) with (2 ^ M).
      assert (B : k * 2 ^ (L - M) < 2 ^ (M - 1) * 2 ^ (L - M)).
      { rewrite <- Z.pow_add_r by lia. replace (M - 1 + (L - M)) with (L - 1) by lia. lia. }
      apply Z.mul_lt_mono_pos_r in B; [|exact Pd].
      assert (0 <= k) by (apply Z.div_pos; lia).
      assert (2 ^ (M - 1) < 2 ^ M) by (apply Z.pow_lt_mono_r; lia). lia.
Qed.

Lemma number_one : forall n, number 1 n = env n.
Proof. intros. cbn [number]. lia. Qed.

(* What the gadget does, in the integers. Of a signed number, wire `n` is the sign's bit, which maxima use. *)
Theorem gadget_correct : forall L M D isSigned value n x,
  0 < M -> 0 <= D -> M + D <= L -> M < L -> L + (L - M - D) <= 252 ->
  stands_for r env value x -> Z.abs x < 2 ^ L -> (isSigned = false -> 0 <= x) ->
  let '(result, constraints, _) := gadget L M D isSigned value n in
  Forall (holds r env) constraints ->
  (isSigned = true -> (x < 0 -> env n = 1) /\ (0 < x -> env n = 0)) /\
  exists y, stands_for r env result y /\ Z.abs y <= 2 ^ (L - D) /\ IZR (y * 2 ^ D) = rounded_to M (IZR x).
Proof.
  intros L M D isSigned value n x HM HD HMD HML HL Hv Hx Hs. unfold gadget.
  unfold stands_for in *. rewrite mod_same in Hv.
  destruct (if isSigned then (wire (n + 1), [bit n; (signFactor n, value, wire (n + 1))], n + 2) else (value, [], n))
    as [[magnitude signs] n0] eqn:G0.
  pose proof (shift_is (L - M - D) n0) as SH. destruct (shift (L - M - D) n0) as [[[amount power] shifts] n1].
  set (low := fromBits (Z.to_nat (L - M - 1)) n1 1).
  pose proof (roundsUp_is (wire (n1 + (L - M - 1))) (wire (n1 + (L - M))) low (n1 + L)) as RU.
  destruct (roundsUp (wire (n1 + (L - M - 1))) (wire (n1 + (L - M))) low (n1 + L)) as [[u ups] n3].
  set (kept := fromBits (Z.to_nat M) (n1 + (L - M)) 1).
  destruct (if 0 <? L - M - D then _ else _) as [[result backs] n4] eqn:G1.
  destruct (if isSigned then (wire n4, [(signFactor n, result, wire n4)], n4 + 1) else (result, [], n4))
    as [[signed ends] n5] eqn:G2.
  intros F. repeat rewrite Forall_app in F. destruct F as (F0 & F1 & F2 & F3 & F4 & F5 & F6 & F7 & F8).
  (* the sign *)
  assert (SG : exists sg, (sg = 1 \/ sg = -1) /\ same (eval env magnitude) (sg * x) /\
    (forall y, same (eval env result) y -> same (eval env signed) (sg * y)) /\ (isSigned = false -> sg = 1) /\
    (isSigned = true -> sg = 1 + -2 * env n)).
  { destruct isSigned.
    - injection G0 as <- <- <-. injection G2 as <- <- <-. pose proof (Forall_inv F0) as C1. pose proof (Forall_inv (Forall_inv_tail F0)) as C3.
      pose proof (Forall_inv F8) as C5. rewrite holds_is in C3, C5. rewrite !eval_wire in *. unfold signFactor in *.
      rewrite eval_plus, eval_one, eval_wire in C3, C5. exists (1 + -2 * env n).
      split; [destruct (bit_is n C1) as [-> | ->]; [left|right]; reflexivity|]. split.
      + apply same_trans with (1 := same_sym _ _ C3). apply same_mul; [apply same_refl|exact Hv].
      + split; [|split; [discriminate|reflexivity]]. intros y Hy. apply same_trans with (1 := same_sym _ _ C5). apply same_mul; [apply same_refl|exact Hy].
    - injection G0 as <- <- <-. injection G2 as <- <- <-. exists 1. split; [left; reflexivity|]. rewrite Z.mul_1_l.
      split; [exact Hv|]. split; [intros y Hy; rewrite Z.mul_1_l; exact Hy|split; [reflexivity|discriminate]]. }
  destruct SG as (sg & Sg & Mag & Fin & Pos & Bit).
  (* the shift *)
  destruct (SH ltac:(lia) F1) as (s & Rs & Am & Pw). clear SH F1 F0 F8 G0 G2.
  (* the bits *)
  pose proof (bits_are _ _ F2) as B. rewrite Z2Nat.id in B by lia. clear F2.
  set (b := number (Z.to_nat L) n1) in *.
  assert (Bits : forall c m, 0 <= m -> m + Z.of_nat c <= L -> forall k, 0 <= k < Z.of_nat c -> env (n1 + m + k) = 0 \/ env (n1 + m + k) = 1).
  { intros c m Hm Hc k Hk. rewrite <- Z.add_assoc. apply B. lia. }
  set (lo := number (Z.to_nat (L - M - 1)) n1). set (ke := number (Z.to_nat M) (n1 + (L - M))).
  set (ha := env (n1 + (L - M - 1))).
  assert (Sp : b = lo + 2 ^ (L - M - 1) * (ha + 2 * ke)).
  { unfold b. replace (Z.to_nat L) with (Z.to_nat (L - M - 1) + (1 + Z.to_nat M))%nat by lia.
    rewrite number_split, number_split, number_one, Z2Nat.id by lia. change (2 ^ Z.of_nat 1) with 2. fold lo.
    replace (n1 + (L - M - 1) + Z.of_nat 1) with (n1 + (L - M)) by lia. reflexivity. }
  assert (Lo : 0 <= lo < 2 ^ (L - M - 1)).
  { unfold lo. replace (2 ^ (L - M - 1)) with (2 ^ Z.of_nat (Z.to_nat (L - M - 1))) by (rewrite Z2Nat.id by lia; reflexivity).
    apply number_range. intros k Hk. apply B. lia. }
  assert (Ha : ha = 0 \/ ha = 1) by (apply B; lia).
  assert (Odd : Z.odd ke = (env (n1 + (L - M)) =? 1) /\ (env (n1 + (L - M)) = 0 \/ env (n1 + (L - M)) = 1)).
  { assert (O : env (n1 + (L - M)) = 0 \/ env (n1 + (L - M)) = 1) by (apply B; lia). split; [|exact O].
    unfold ke. replace (Z.to_nat M) with (S (Z.to_nat (M - 1))) by lia. cbn [number].
    rewrite Z.odd_add_mul_2. destruct O as [-> | ->]; reflexivity. }
  destruct Odd as [Od O].
  assert (Br : 0 <= b < 2 ^ L).
  { unfold b. replace (2 ^ L) with (2 ^ Z.of_nat (Z.to_nat L)) by (rewrite Z2Nat.id by lia; reflexivity). apply number_range.
    intros k Hk. apply B. lia. }
  assert (Top : env (n1 + (L - 1)) = 1 -> 2 ^ (L - 1) <= b).
  { intros T. unfold b. replace (Z.to_nat L) with (Z.to_nat (L - 1) + 1)%nat by lia. rewrite number_split, number_one, Z2Nat.id, T by lia.
    pose proof (number_range (Z.to_nat (L - 1)) n1 ltac:(intros k Hk; apply B; lia)). lia. }
  assert (Tp : env (n1 + (L - 1)) = 0 \/ env (n1 + (L - 1)) = 1) by (apply B; lia).
  assert (Low0 : env (n1 + (L - 1)) = 0 -> b < 2 ^ (L - 1)).
  { intros T. unfold b. replace (Z.to_nat L) with (Z.to_nat (L - 1) + 1)%nat by lia. rewrite number_split, number_one, Z2Nat.id, T by lia.
    pose proof (number_range (Z.to_nat (L - 1)) n1 ltac:(intros k Hk; apply B; lia)) as R. rewrite Z2Nat.id in R by lia. lia. }
  assert (Big : 2 ^ 252 < r) by (apply Z.lt_le_trans with (2 := r_large); reflexivity).
  assert (PL : 2 ^ L <= 2 ^ 252) by (apply Z.pow_le_mono_r; lia).
  (* the number, moved up, is that of the bits, in the integers *)
  assert (Eq : sg * x * 2 ^ s = b).
  { pose proof (Forall_inv F3) as C. apply holds_is in C. rewrite eval_bits, Z.mul_1_l in C. fold b in C.
    apply same_equal.
    - apply same_trans with (2 := C). apply same_sym. apply same_mul; [exact Mag|exact Pw].
    - assert (P2 : 2 ^ L * 2 ^ s <= 2 ^ 252) by (rewrite <- Z.pow_add_r by lia; apply Z.pow_le_mono_r; lia).
      assert (Ps : 0 < 2 ^ s) by (apply pow_pos; lia).
      assert (A : Z.abs (sg * x * 2 ^ s) < 2 ^ L * 2 ^ s).
      { rewrite Z.abs_mul, (Z.abs_eq (2 ^ s)) by lia. apply Z.mul_lt_mono_pos_r; [exact Ps|]. destruct Sg as [-> | ->]; lia. }
      apply Z.lt_le_trans with (2 := r_large). change (2 ^ 253) with (2 ^ 252 + 2 ^ 252). lia. }
  assert (Ps : 0 < 2 ^ s) by (apply pow_pos; lia).
  assert (Ax : sg * x = Z.abs x) by (assert (0 <= sg * x) by nia; destruct Sg as [-> | ->]; lia).
  (* where the highest bit is 0: the most places, and only zeros beneath *)
  assert (Case : 2 ^ (L - 1) <= b \/ (s = L - M - D /\ b < 2 ^ (L - 1) /\ (0 < D -> b mod 2 ^ (L - M) = 0))).
  { destruct Tp as [T|T]; [right|left; apply Top; exact T]. split; [|split; [apply Low0; exact T|]].
    - destruct (Z.ltb_spec 0 (L - M - D)) as [P|P]; [|lia]. pose proof (Forall_inv F4) as C. apply holds_is in C.
      rewrite !eval_minus, eval_one, eval_wire, T, Z.mul_1_l in C. cbn [eval fold_right] in C. fold (eval env amount) in C.
      rewrite env_one in C. apply same_equal in C; [lia|]. apply Z.lt_trans with (2 := Big). apply Z.le_lt_trans with 252; [lia|reflexivity].
    - intros PD. replace (0 <? D) with true in F5 by (symmetry; apply Z.ltb_lt; lia). pose proof (Forall_inv F5) as C.
      apply holds_is in C. rewrite eval_minus, eval_plus, eval_one, !eval_wire, T, Z.mul_1_l in C. unfold low in C. rewrite eval_bits, Z.mul_1_l in C.
      fold lo ha in C. cbn [eval fold_right] in C.
      assert (P2 : 2 ^ (L - M) = 2 * 2 ^ (L - M - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
      assert (P3 : 2 ^ (L - M) <= 2 ^ 252) by (apply Z.pow_le_mono_r; lia).
      apply same_equal in C; [|destruct Ha as [-> | ->]; lia].
      rewrite Sp, P2. replace (lo + 2 ^ (L - M - 1) * (ha + 2 * ke)) with (lo + 2 ^ (L - M - 1) * ha + ke * (2 * 2 ^ (L - M - 1))) by ring.
      rewrite Z.mod_add by lia. rewrite Z.mul_1_l in C || idtac. replace (lo + 2 ^ (L - M - 1) * ha) with 0 by lia. apply Z.mod_0_l. lia. }
  (* rounding up *)
  assert (PM : 2 ^ (L - M) = 2 * 2 ^ (L - M - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  destruct (even_up b (L - M) ke (lo + 2 ^ (L - M - 1) * ha)) as [Up Dv].
  { rewrite Sp, PM. ring. } { destruct Ha as [-> | ->]; lia. } { lia. }
  assert (R : same (eval env u) (b2z (up b (L - M) false))).
  { rewrite Up, Od, PM. apply same_trans with (roundedUp ha (env (n1 + (L - M))) lo).
    - rewrite !eval_wire in RU. unfold low in RU. rewrite eval_bits, Z.mul_1_l in RU. apply RU; [exact Ha|exact O| |exact F6].
      fold lo. split; [lia|]. apply Z.lt_le_trans with (1 := proj2 Lo). apply Z.pow_le_mono_r; lia.
    - unfold roundedUp. destruct Ha as [-> | ->]; cbn [Z.eqb andb].
      + rewrite Z.mul_0_r, Z.add_0_r. replace (2 * 2 ^ (L - M - 1) <? 2 * lo) with false by (symmetry; apply Z.ltb_ge; lia).
        replace (2 * 2 ^ (L - M - 1) =? 2 * lo) with false by (symmetry; apply Z.eqb_neq; lia). apply same_refl.
      + rewrite Z.mul_1_r. destruct (Z.eqb_spec lo 0) as [E|E].
        * rewrite E, Z.add_0_l, Z.ltb_irrefl, Z.eqb_refl. cbn [negb orb andb]. rewrite orb_false_r.
          destruct (env (n1 + (L - M)) =? 1); apply same_refl.
        * replace (2 * 2 ^ (L - M - 1) <? 2 * (lo + 2 ^ (L - M - 1))) with true by (symmetry; apply Z.ltb_lt; lia).
          cbn [negb orb]. rewrite orb_true_r. apply same_refl. }
  set (k := ke + b2z (up b (L - M) false)).
  assert (Kr : 0 <= k <= 2 ^ M).
  { assert (Kk : 0 <= ke < 2 ^ M).
    { unfold ke. replace (2 ^ M) with (2 ^ Z.of_nat (Z.to_nat M)) by (rewrite Z2Nat.id by lia; reflexivity). apply number_range.
      intros j Hj. rewrite <- Z.add_assoc. apply B. lia. }
    unfold k, b2z. destruct (up b (L - M) false); lia. }
  assert (Kp : same (eval env (plus kept u 1)) k).
  { rewrite eval_plus, Z.mul_1_l. unfold kept. rewrite eval_bits, Z.mul_1_l. apply same_add; [apply same_refl|exact R]. }
  (* back by the same places *)
  assert (Res : same (eval env result) (k * 2 ^ (L - M - D - s))).
  { destruct (Z.ltb_spec 0 (L - M - D)) as [P|P].
    - injection G1 as <- <- <-. pose proof (Forall_inv F7) as C1. pose proof (Forall_inv (Forall_inv_tail F7)) as C3.
      rewrite holds_is in C1, C3. rewrite !eval_wire in *.
      apply same_trans with (1 := same_sym _ _ C3). apply same_mul; [exact Kp|].
      apply same_cancel with (2 ^ s).
      + rewrite <- Z.pow_add_r by lia. replace (L - M - D - s + s) with (L - M - D) by lia.
        cbn [eval fold_right] in C1. rewrite env_one, Z.mul_1_r, Z.add_0_r in C1. apply same_trans with (2 := C1).
        apply same_mul; [apply same_refl|apply same_sym; exact Pw].
      + intros K. apply same_equal in K; [lia|]. rewrite Z.sub_0_r, Z.abs_eq by lia. apply Z.lt_trans with (2 := Big).
        apply Z.pow_lt_mono_r; lia.
    - injection G1 as <- <- <-. replace (L - M - D - s) with 0 by lia. rewrite Z.mul_1_r. exact Kp. }
  split.
  { intros T. specialize (Bit T). split; intros X; destruct Sg as [E|E]; rewrite E in Ax, Bit; lia. }
  exists (sg * (k * 2 ^ (L - M - D - s))). rewrite mod_same. split; [apply Fin; exact Res|].
  pose proof (rounded_magnitude L M D (Z.abs x) s b HM HD HMD HML ltac:(lia) Rs ltac:(rewrite <- Ax; symmetry; exact Eq) Br Case) as Q.
  cbv zeta in Q. rewrite Dv in Q. fold k in Q.
  assert (P4 : 0 < 2 ^ (L - M - D - s)) by (apply pow_pos; lia).
  split.
  - assert (P5 : 2 ^ M * 2 ^ (L - M - D - s) <= 2 ^ (L - D)) by (rewrite <- Z.pow_add_r by lia; apply Z.pow_le_mono_r; lia).
    assert (P6 : k * 2 ^ (L - M - D - s) <= 2 ^ M * 2 ^ (L - M - D - s)) by (apply Z.mul_le_mono_nonneg_r; lia).
    assert (P7 : 0 <= k * 2 ^ (L - M - D - s)) by (apply Z.mul_nonneg_nonneg; lia).
    destruct Sg as [-> | ->]; lia.
  - rewrite <- Z.mul_assoc, mult_IZR, Q.
    assert (X : x = sg * Z.abs x) by (rewrite <- Ax; destruct Sg as [-> | ->]; lia).
    rewrite X at 2. rewrite mult_IZR. destruct Sg as [-> | ->].
    + rewrite !Rmult_1_l. reflexivity.
    + replace (-1 * rounded_to M (IZR (Z.abs x)))%R with (- rounded_to M (IZR (Z.abs x)))%R by ring.
      replace (-1 * IZR (Z.abs x))%R with (- IZR (Z.abs x))%R by ring. unfold rounded_to. rewrite round_NE_opp. reflexivity.
Qed.

End Sound.

Lemma rounded_scaled : forall x unit, -149 <= unit ->
  rounded 23 8 (IZR x * bpow radix2 unit) = (rounded_to 24 (IZR x) * bpow radix2 unit)%R.
Proof.
  intros x unit Hu. change (rounded 23 8) with (round radix2 (FLT_exp (-149) 24) ZnearestE). unfold rounded_to.
  destruct (Z.eq_dec x 0) as [->|N].
  { rewrite Rmult_0_l, !round_0 by apply valid_rnd_N. lra. }
  assert (Nr : IZR x <> 0%R) by (apply IZR_neq; exact N).
  destruct (Z.lt_ge_cases (mag radix2 (IZR x) + unit - 24) (-149)) as [S|S].
  - (* short: exact either way *)
    assert (B : Z.abs x < 2 ^ 24).
    { apply lt_IZR. rewrite abs_IZR. apply Rlt_le_trans with (1 := bpow_mag_gt radix2 (IZR x)).
      change (IZR (2 ^ 24)) with (bpow radix2 24). apply bpow_le. lia. }
    rewrite !round_generic; try apply valid_rnd_N; [reflexivity| |].
    + apply generic_format_FLX. exists (Float radix2 x 0); [unfold F2R; cbn [Fnum Fexp]; change (bpow radix2 0) with 1%R; lra|exact B].
    + apply generic_format_FLT. exists (Float radix2 x unit); [reflexivity|exact B|exact Hu].
  - unfold round, F2R, scaled_mantissa, cexp, FLX_exp, FLT_exp. rewrite mag_mult_bpow by exact Nr. cbn [Fnum Fexp].
    rewrite Z.max_l by lia. set (e := mag radix2 (IZR x) : Z) in *.
    rewrite Rmult_assoc, <- bpow_plus. replace (unit + - (e + unit - 24)) with (- (e - 24)) by lia.
    rewrite Rmult_assoc, <- bpow_plus. f_equal. f_equal. lia.
Qed.

(* The gadget for float32: the number `x * 2^unit` within the compiler's bounds, rounded once. *)
Theorem gadget_float32 : forall order env L D unit isSigned value n x,
  prime order -> 2 ^ 253 <= order -> env 0 = 1 -> (forall w, 0 <= env w < order) ->
  24 < L -> 0 <= D <= L - 24 -> L + (L - 24 - D) <= 252 -> -149 <= unit -> L + unit <= 127 ->
  stands_for order env value x -> Z.abs x < 2 ^ L -> (isSigned = false -> 0 <= x) ->
  let '(result, constraints, _) := gadget L 24 D isSigned value n in
  Forall (holds order env) constraints ->
  (isSigned = true -> (x < 0 -> env n = 1) /\ (0 < x -> env n = 0)) /\
  exists y, stands_for order env result y /\ Z.abs y <= 2 ^ (L - D) /\
    (IZR y * bpow radix2 (unit + D) = rounded 23 8 (IZR x * bpow radix2 unit))%R /\
    (Rabs (rounded 23 8 (IZR x * bpow radix2 unit)) <= bpow radix2 127)%R.
Proof.
  intros order env L D unit isSigned value n x Hp Ho He Hr HL HD HM Hu Ht Hv Hx Hs.
  pose proof (gadget_correct order Hp Ho env He Hr L 24 D isSigned value n x ltac:(lia) ltac:(lia) ltac:(lia) HL HM Hv Hx Hs) as G.
  destruct (gadget L 24 D isSigned value n) as [[result constraints] after]. intros F. destruct (G F) as (Sign & y & Y1 & Y2 & Y3).
  split; [exact Sign|]. exists y. split; [exact Y1|]. split; [exact Y2|].
  assert (E : (IZR y * bpow radix2 (unit + D) = rounded 23 8 (IZR x * bpow radix2 unit))%R).
  { rewrite rounded_scaled by exact Hu. rewrite <- Y3, mult_IZR, <- bpow_IZR by lia. rewrite (Z.add_comm unit), bpow_plus. ring. }
  split; [exact E|]. rewrite <- E, Rabs_mult, (Rabs_pos_eq (bpow radix2 (unit + D))) by apply bpow_ge_0. rewrite <- abs_IZR.
  apply Rle_trans with (bpow radix2 (L - D) * bpow radix2 (unit + D))%R.
  - apply Rmult_le_compat_r; [apply bpow_ge_0|]. rewrite bpow_IZR by lia. apply IZR_le. exact Y2.
  - rewrite <- bpow_plus. apply bpow_le. lia.
Qed.
