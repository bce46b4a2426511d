import { encodeFunctionData } from "viem";
import type { Step } from "../../src/program/types.ts";
import { proveElement } from "./stepProof.ts";
import { createCallChain } from "./callChain.ts";

/** Measures the cost of step proofs on a separate chain. */
export async function openStepGasMeter() {
  const { viem } = await createCallChain();
  const elementary = await viem.deployContract("Elementary");
  const verifier = await viem.deployContract("StepVerifier", [elementary.address]);
  const meter = await viem.deployContract("ProofGasMeter", [verifier.address]);
  return {
    /**
     * Returns the gas for a transaction that only forwards an element's proof to the verifier.
     * @throws Error if the verifier gives another value than the definition
     */
    async measure(step: Step, element: number, tensors: readonly Uint8Array[]): Promise<number> {
      const { proof, value } = proveElement(step, element, tensors);
      const [word, executed] = await meter.read.evaluate(proof);
      if (word !== value) throw new Error(`the verifier gives ${word}, the definition ${value}`);
      const data = encodeFunctionData({ abi: verifier.abi, functionName: "evaluate", args: proof });
      return transactionGas(data, Number(executed));
    },
  };
}

/** The gas of a transaction with given calldata and execution (EIP-7623). */
function transactionGas(data: `0x${string}`, executed: number): number {
  const bytes = Buffer.from(data.slice(2), "hex");
  const zeros = bytes.filter((byte) => byte === 0).length;
  const price = (zero: number, nonzero: number): number => zero * zeros + nonzero * (bytes.length - zeros);
  return 21_000 + Math.max(price(4, 16) + executed, price(10, 40));
}
