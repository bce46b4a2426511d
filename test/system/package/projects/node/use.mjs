// Buys as a user of the package does: with a key of viem, and with a signer of ethers.
import { readFileSync } from "node:fs";
import { JsonRpcProvider, Wallet } from "ethers";
import { jobMarketAbi } from "refute-ml/abi";
import { decodeOutputs, deposit, encodeInputs, ethersWallet, jobProgress, loadProgram } from "refute-ml/sdk";
import { minWindow, openSession, parseDescription, postJob, topScores } from "refute-ml/sdk";
import { privateKeyToAccount } from "viem/accounts";

const { rpcUrl, chainId, market, key } = JSON.parse(readFileSync("market.json", "utf8"));
const labels = { y: Array.from({ length: 10 }, (_, k) => `digit ${k}`) };
const described = await loadProgram("model.onnx", { labels });
const program = parseDescription(JSON.stringify(described));
const inputs = encodeInputs(program, { x: Float32Array.from({ length: 64 }, (_, k) => k / 64) });
const provider = new JsonRpcProvider(rpcUrl, undefined, { cacheTimeout: -1 });
const accounts = [privateKeyToAccount(key), await ethersWallet(new Wallet(key, provider))];
for (const account of accounts) {
  const session = await openSession({ endpoint: { rpcUrls: [rpcUrl] }, chainId, market, account });
  const fee = 10n ** 17n;
  await deposit(session, fee);
  const { timestamp } = await session.publicClient.getBlock();
  const terms = { fee, window: minWindow(session, program), claimSeconds: 1_800, deadline: timestamp + 86_400n };
  const { jobId } = await postJob(session, program, inputs, terms);
  const { status } = await jobProgress(session, jobId);
  if (status !== "open") throw new Error(`the job is ${status}`);
}
provider.destroy();
const bytes = new Uint8Array(Float32Array.from({ length: 10 }, (_, k) => k).buffer);
const [[best]] = topScores(decodeOutputs(program, new Map([[0, bytes]])).get("y"), 1);
if (best.label !== "digit 9") throw new Error(`the best is ${JSON.stringify(best)}`);
const { deployment } = await openSession({ endpoint: { rpcUrls: [rpcUrl] }, chainId, market, account: accounts[0] });
if (deployment.market !== market || jobMarketAbi.length === 0) throw new Error("another deployment");
console.log("2 jobs posted: by a key of viem and by a signer of ethers");
