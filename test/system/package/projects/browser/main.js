// A page that posts a job with the wallet of its browser and shows what comes back.
import { decodeOutputs, deposit, encodeInputs, openSession, parseDescription } from "refute-ml/browser";
import { postJob, topScores, viemWallet, waitForResult } from "refute-ml/browser";
import { createWalletClient, custom } from "viem";

export async function ask(description, chainId, market, tensors, terms) {
  const program = parseDescription(description);
  const transport = custom(window.ethereum);
  const account = await viemWallet(createWalletClient({ transport }));
  const session = await openSession({ endpoint: { transport }, chainId, market, account });
  await deposit(session, terms.fee);
  const { jobId } = await postJob(session, program, encodeInputs(program, tensors), terms);
  const { outputs } = await waitForResult(session, jobId);
  return [...decodeOutputs(program, outputs).values()].map((output) => topScores(output));
}
