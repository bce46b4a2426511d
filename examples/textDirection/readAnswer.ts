// How a dapp's client reads a finalised result, with ethers. Standalone:
//   node examples/textDirection/readAnswer.ts RPC_URL DAPP_ADDRESS JOB_ID
import { fileURLToPath } from "node:url";
import { Contract, JsonRpcProvider, type Provider } from "ethers";

/** What TextDirectionDapp holds about a question. */
export type Answer = { known: boolean; upright: boolean; confidencePpm: number };

const ABI = [
  "function answerOf(bytes32 jobId) view returns (tuple(bool known, bool upright, uint32 confidencePpm))",
  "event Answered(bytes32 indexed jobId, bool upright, uint32 confidencePpm)",
];

/** Reads the answer to a question from the dapp's contract. */
export async function readAnswer(provider: Provider, dapp: string, jobId: string): Promise<Answer> {
  const contract = new Contract(dapp, ABI, provider);
  const { known, upright, confidencePpm } = (await contract.getFunction("answerOf")(jobId)) as Omit<
    Answer,
    "confidencePpm"
  > & { confidencePpm: bigint };
  return { known, upright, confidencePpm: Number(confidencePpm) };
}

/** For people: `upright, 99.9 %`. Rounded down, so that nothing short of certainty reads 100 %. */
export function describe({ known, upright, confidencePpm }: Answer): string {
  if (!known) return "no answer yet";
  return `${upright ? "upright" : "upside down"}, ${(Math.floor(confidencePpm / 1_000) / 10).toFixed(1)} %`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [url, dapp, jobId] = process.argv.slice(2);
  if (url === undefined || dapp === undefined || jobId === undefined) {
    console.error("usage: readAnswer.ts RPC_URL DAPP_ADDRESS JOB_ID");
    process.exitCode = 1;
  } else {
    const provider = new JsonRpcProvider(url);
    console.log(describe(await readAnswer(provider, dapp, jobId)));
    provider.destroy();
  }
}
