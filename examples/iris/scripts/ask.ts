// Deploys the oracle on a devnet, asks about one flower and prints the answer. The variables REFUTE_RPC_URL and so on
// are those that `npm run devnet` prints.
//   node scripts/ask.ts [sepal length, sepal width, petal length, petal width, in cm]
import { readFileSync, writeFileSync } from "node:fs";
import {
  createWalletClient,
  erc20Abi,
  http,
  parseEventLogs,
  publicActions,
  type Abi,
  type Address,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { decodeOutputs, encodeInputs, estimateFee, jobRequest, loadProgram } from "refute-ml/sdk";
import { minWindow, openSession, topScores, waitForResult } from "refute-ml/sdk";

const given = process.argv.slice(2).map(Number);
const flower = given.length === 0 ? [6.3, 2.9, 5.6, 1.8] : given;

const { REFUTE_RPC_URL: rpcUrl, REFUTE_CHAIN_ID, REFUTE_MARKET, REFUTE_PRIVATE_KEY } = process.env;
if (!rpcUrl || !REFUTE_CHAIN_ID || !REFUTE_MARKET || !REFUTE_PRIVATE_KEY)
  throw new Error("paste the lines that `npm run devnet` prints first: REFUTE_RPC_URL and those after it");
const [chainId, market] = [Number(REFUTE_CHAIN_ID), REFUTE_MARKET as Address];

// 1. The model, compiled here: its root says which program is asked.
const labels = { probabilities: ["setosa", "versicolor", "virginica"] };
const program = await loadProgram("model/iris.onnx", { labels });
const inputs = encodeInputs(program, { features: Float32Array.from(flower) });

// 2. The contract.
const account = privateKeyToAccount(REFUTE_PRIVATE_KEY as Hex);
const session = await openSession({ endpoint: { rpcUrls: [rpcUrl] }, chainId, market, account });
const client = createWalletClient({ account, chain: session.publicClient.chain, transport: http(rpcUrl) }).extend(
  publicActions,
);
const mined = async (hash: Promise<Hex>) => client.waitForTransactionReceipt({ hash: await hash });
const artifact = readFileSync("artifacts/contracts/IrisOracle.sol/IrisOracle.json", "utf8");
const { abi, bytecode } = JSON.parse(artifact) as { abi: Abi; bytecode: Hex };
const window = minWindow(session, program);
const deployed = await mined(client.deployContract({ abi, bytecode, args: [market, program.programRoot, window] }));
const oracle = deployed.contractAddress!;

// 3. The question, with a fee that covers what it costs a worker.
const output = { callbackGas: 150_000, maxOutputBytes: 12 };
const fee = 2n * (await estimateFee(session, program, output)).fee;
const { asset } = session.deployment;
await mined(client.writeContract({ address: asset, abi: erc20Abi, functionName: "approve", args: [oracle, fee] }));
const { timestamp } = await client.getBlock();
const terms = { ...output, fee, window, claimSeconds: 600, deadline: timestamp + 3_600n };
const request = jobRequest(program, inputs, terms);
const asked = await mined(client.writeContract({ address: oracle, abi, functionName: "ask", args: [request] }));
const [event] = parseEventLogs({ abi, logs: asked.logs, eventName: "Asked" });
const { jobId } = (event as unknown as { args: { jobId: Hex } }).args;
console.log(`asked about ${flower.join(", ")}: job ${jobId}`);

// 4. The answer, once it is final: decoded here, and in the contract.
const { outputs } = await waitForResult(session, jobId, { isPosted: true, onPhase: (phase) => console.log(phase) });
const [scores] = topScores(decodeOutputs(program, outputs).get("probabilities")!);
for (const { label, score } of scores!) console.log(`${label!.padEnd(12)}${(score * 100).toFixed(1)} %`);
const held = await client.readContract({ address: oracle, abi, functionName: "scoresOf", args: [jobId] });
console.log(`the contract ${oracle} holds ${String(held)}`);

// For the page.
const { fromBlock } = session;
writeFileSync(
  "page/oracle.json",
  JSON.stringify({ rpcUrl, chainId, market, oracle, fromBlock: Number(fromBlock), program }),
);
