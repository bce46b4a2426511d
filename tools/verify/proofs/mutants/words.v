(* The EVM's operations as in proofs/Evm.v, by shifts and masks: fast to compute. *)
Module Evm.
Definition ONES := 2 ^ 256 - 1.
Definition HALF := 2 ^ 255.
Definition W := Slow.W.
Definition b2z := Slow.b2z.
Definition gt := Slow.gt.
Definition eq := Slow.eq.
Definition iszero := Slow.iszero.
Definition clz := Slow.clz.
Definition add (a b : Z) := Z.land (a + b) ONES.
Definition sub (a b : Z) := Z.land (a - b) ONES.
Definition mul (a b : Z) := Z.land (a * b) ONES.
Definition shl (s a : Z) := if (s <? 256) && (0 <=? s) then Z.land (Z.shiftl a s) ONES else 0.
Definition shr (s a : Z) := if (s <? 256) && (0 <=? s) then Z.shiftr a s else 0.
Definition int (z : Z) := Z.land (z + HALF) ONES - HALF.
Definition uint (z : Z) := Z.land z ONES.
Definition sar (s z : Z) := if 0 <=? s then Z.shiftr z s else 0.
End Evm.

Lemma masked : forall z, Z.land z Evm.ONES = z mod Slow.W.
Proof. intros. exact (Z.land_ones z 256 ltac:(discriminate)). Qed.
Lemma fast_is_slow : forall a b,
  Evm.add a b = Slow.add a b /\ Evm.sub a b = Slow.sub a b /\ Evm.mul a b = Slow.mul a b /\
  Evm.shl a b = Slow.shl a b /\ Evm.shr a b = Slow.shr a b /\ Evm.int a = Slow.int a /\ Evm.uint a = Slow.uint a /\
  Evm.sar a b = Slow.sar a b.
Proof.
  intros a b. repeat split; try apply masked.
  - unfold Evm.shl, Slow.shl. destruct (a <? 256); [|reflexivity]. cbn [andb]. destruct (Z.leb_spec 0 a) as [N|N].
    + rewrite masked, Z.shiftl_mul_pow2 by assumption. reflexivity.
    + rewrite Z.pow_neg_r, Z.mul_0_r by assumption. reflexivity.
  - unfold Evm.shr, Slow.shr. destruct (a <? 256); [|reflexivity]. cbn [andb]. destruct (Z.leb_spec 0 a) as [N|N].
    + apply Z.shiftr_div_pow2. assumption.
    + rewrite Z.pow_neg_r by assumption. destruct b; reflexivity.
  - unfold Evm.int, Slow.int. rewrite masked. reflexivity.
  - unfold Evm.sar, Slow.sar. destruct (Z.leb_spec 0 a) as [N|N].
    + apply Z.shiftr_div_pow2. assumption.
    + rewrite Z.pow_neg_r by assumption. destruct b; reflexivity.
Qed.
