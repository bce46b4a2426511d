import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile } from "../../src/compiler/compile.ts";
import { loadModel, type ModelSpec } from "../../src/compiler/wraps/modelSpec.ts";
import { DECODER } from "../../src/compiler/wraps/wrapDecoder.ts";
import { knownProgram, programShape } from "../../src/dispute/run/execution.ts";
import { ApiKeys } from "../../src/parties/gateway/apiKeys.ts";
import { openEmbeddingModel } from "../../src/parties/gateway/embeddings.ts";
import { Gateway, type Offer } from "../../src/parties/gateway/gateway.ts";
import { GatewayLedger } from "../../src/parties/gateway/gatewayLedger.ts";
import { serveGateway, type ServerOptions } from "../../src/parties/gateway/server.ts";
import { Sellers, type SellersOptions } from "../../src/parties/gateway/sellers.ts";
import { openTextModel } from "../../src/parties/gateway/textFiles.ts";
import type { TextModel } from "../../src/parties/gateway/textModel.ts";
import { PayerLedger } from "../../src/parties/tickets/payerLedger.ts";
import type { TicketSession } from "../../src/parties/tickets/ticketSession.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import type { Execute } from "../../src/runs/execute.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { createLogger } from "../../src/base/log.ts";
import { LLAMA_TINY, llama } from "../models/llama.ts";
import { miniLm } from "../models/miniLm.ts";
import { FACE, type TicketPlayers } from "./ticketPlayers.ts";

/** A chat template that reads the clock. */
const TEMPLATE =
  "{{ bos_token }}{{ strftime_now('%d %b %Y') }}\n{% for message in messages %}{{ message['role'] }}: " +
  "{{ message['content'] }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}";

/** A tokenizer for the kit. */
export const TOKENIZER = new URL("../../test/golden/tokenizers/byteLevelBpe.json", import.meta.url).pathname;
const VOCABULARY = 400;

/** A small decoder with a tokenizer and a chat template. */
export type TextKit = { model: TextModel; spec: ModelSpec; executors: FastExecutors; execute: Execute };

/** @param folder Where the files go. @param options With `decoder`: the file of another decoder. */
export async function textKit(
  folder: string,
  options: { slots?: number; greedy?: true; endTokens?: readonly number[]; decoder?: Uint8Array } = {},
): Promise<TextKit> {
  const { slots = 96, greedy, endTokens = [7] } = options;
  const { decoder = llama({ ...LLAMA_TINY, vocabulary: VOCABULARY, positions: Math.max(128, slots) }) } = options;
  const path = join(folder, `words-${slots}.onnx`);
  writeFileSync(path, decoder);
  const config = join(folder, "tokenizer_config.json");
  writeFileSync(config, JSON.stringify({ bos_token: { content: "" }, chat_template: TEMPLATE }));
  const spec: ModelSpec = { path, shapes: {}, bind: {}, uint8: [], decoder: { slots, endTokens, greedy } };
  const loaded = loadModel(spec);
  const program = knownProgram(compile(loaded.model, { ...spec, run: loaded.run }));
  const model = await openTextModel("words", program, spec, { tokenizer: TOKENIZER, config });
  const executors = new FastExecutors({ threads: 1 });
  return { model, spec, executors, execute: executors.execute };
}

/** A library as a worker has it, which knows how the kit's model was compiled. */
export function libraryOf({ model: { program }, spec }: TextKit): ProgramLibrary {
  const library = ProgramLibrary.of([]);
  const load = () => Promise.resolve(program);
  library.add({ root: program.model.programRoot, shape: programShape(program), load, spec });
  return library;
}

const ENCODER = { layers: 1, width: 16, heads: 2, tokens: 24, hidden: 32, vocabulary: VOCABULARY };

/** A small encoder with a tokenizer. @param folder Where its file goes. */
export async function embeddingKit(folder: string) {
  const path = join(folder, "encoder.onnx");
  writeFileSync(path, miniLm({ shape: ENCODER }));
  const spec: ModelSpec = { path, shapes: {}, bind: {}, uint8: [] };
  const program = knownProgram(compile(loadModel(spec).model, spec));
  const model = await openEmbeddingModel("vectors", program, spec, { tokenizer: TOKENIZER });
  const executors = new FastExecutors({ threads: 1 });
  return { model, spec, executors, execute: executors.execute };
}

type GatewayChanges = Partial<Pick<SellersOptions, "share" | "secret" | "publishing" | "execute" | "patienceMs">> &
  Partial<Pick<ServerOptions, "maxBodyBytes" | "stallMs">> & {
    keys?: string;
    block?: number;
    eager?: boolean;
    path?: string;
    payerPath?: string;
  };

/** A gateway that runs, with what tests look at. */
export type RunningGateway = {
  url: string;
  sellers: Sellers;
  ledger: GatewayLedger;
  payer: PayerLedger;
  /** Where that ledger lies. */
  payerPath: string;
  /** What it logs. */
  log: () => string;
  close: () => Promise<void>;
};

/** Starts a gateway that buys from workers. */
export async function startGateway(
  world: TicketPlayers,
  { model, execute }: Pick<TextKit, "execute"> & { model: Offer["model"] },
  at: TicketSession,
  urls: readonly string[],
  changes: GatewayChanges = {},
): Promise<RunningGateway> {
  const {
    keys,
    block = 16,
    path = world.path(),
    payerPath = world.path(),
    maxBodyBytes = 2 ** 20,
    stallMs,
    eager = false,
    ...more
  } = changes;
  const payer = await PayerLedger.open(payerPath);
  const ledger = await GatewayLedger.open(path);
  const clock = () => Math.floor(Date.now() / 1_000) + world.ahead;
  let text = "";
  const log = createLogger("debug", { write: (line) => (text += line) });
  const limits = { face: FACE, oneIn: 1 };
  const sellers = new Sellers({
    ...{ at, ledger: payer, urls, program: model.program, execute, limits, clock, log },
    ...{ share: 0, secret: Buffer.from("secret"), publishing: "all", ...more },
  });
  const offers = new Map<string, Offer>([[model.name, { model, sellers }]]);
  // Templates print the date: texts of two requests are of one day.
  const gateway = new Gateway({ at, ledger, offers, limits, block, log, eager, clock: () => 1_700_000_000 });
  const options = { gateway, keys: new ApiKeys(keys), log, maxBodyBytes, ...(stallMs !== undefined && { stallMs }) };
  const server = await serveGateway(options, 0);
  return {
    ...{ url: `http://127.0.0.1:${server.port}/v1`, sellers, ledger, payer, payerPath },
    log: () => text,
    close: async () => {
      await server.close();
      await sellers.settled();
      ledger.end();
      payer.end();
    },
  };
}

/** An execution that chooses another second token in every n-th run. @param first Whether the first run is one. */
export function lyingEvery(n: number, execute: Execute, { model }: TextModel["program"], first = false): Execute {
  const { step } = model.program.checkpoints[model.program.outputs[0]!]!;
  const wordOf = (inputs: readonly Uint8Array[], name: string): number => {
    const bytes = inputs[model.inputs.findIndex((input) => input.name === name)]!;
    return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true));
  };
  let runs = first ? n - 1 : 0;
  // Without blocks: each item is executed by itself.
  return async (...args) => {
    const [, inputs] = args;
    const item = wordOf(inputs, DECODER.index);
    if (item === 0) runs++;
    const tensors = await execute(...args);
    if (runs % n !== 0 || item !== wordOf(inputs, DECODER.promptLength)) return tensors;
    return tensors.map((tensor, k) =>
      k === step ? tensor.map((byte, at) => (at === 8 * item ? byte ^ 1 : byte)) : tensor,
    );
  };
}
