// Shows what the oracle answered. Reads oracle.json, which scripts/ask.ts writes, and the chain.
import { parseAbiItem, type Address, type Hex } from "viem";
import { decodeOutputs, jobState, openReader, parseDescription, topScores } from "refute-ml/browser";

type Settings = {
  rpcUrl: string;
  chainId: number;
  market: Address;
  oracle: Address;
  fromBlock: number;
  program: unknown;
};

const note = document.querySelector("#note")!;
const table = document.querySelector("#answers")!;

async function show(): Promise<void> {
  const settings = (await (await fetch("oracle.json")).json()) as Settings;
  const program = parseDescription(settings.program);
  const { rpcUrl, chainId, market } = settings;
  const reader = await openReader({
    endpoint: { rpcUrls: [rpcUrl] },
    chainId,
    market,
    fromBlock: BigInt(settings.fromBlock),
  });
  const asked = await reader.publicClient.getLogs({
    address: settings.oracle,
    event: parseAbiItem("event Asked(bytes32 indexed jobId, address indexed asker)"),
    fromBlock: BigInt(settings.fromBlock),
  });
  const rows = await Promise.all(asked.map(({ args }) => rowOf(args.jobId!)));
  table.replaceChildren(...rows);
  note.textContent = `${rows.length} questions, read from ${market}`;

  async function rowOf(jobId: Hex): Promise<HTMLTableRowElement> {
    const { status, claims, outputs } = await jobState(reader, jobId);
    const output = decodeOutputs(program, outputs).get("probabilities");
    const best = output === undefined ? undefined : topScores(output, 1)[0]![0]!;
    const answer = best === undefined ? status : `${best.label}, ${(best.score * 100).toFixed(1)} %`;
    const row = document.createElement("tr");
    for (const text of [`${jobId.slice(0, 10)}…`, answer, claims.at(-1)?.worker ?? ""])
      row.insertCell().textContent = text;
    return row;
  }
}

show().catch((error: unknown) => (note.textContent = (error as Error).message));
