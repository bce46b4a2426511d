import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect } from "chai";
import { generatePrivateKey } from "viem/accounts";
import { DType } from "../../src/numerics/dtype.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { mlpBytes } from "../../testkit/models/mlp.ts";
import { buildModel } from "../../testkit/onnx/onnxBuilder.ts";
import { refute } from "./refute.ts";

const KEY = generatePrivateKey();
const JOB = `0x${"ab".repeat(32)}`;
const MARKET = `0x${"12".repeat(20)}`;
/** A port where nobody listens. */
const DOWN = "http://127.0.0.1:9999";

/** What a user types, the exit status, and what the one line says. */
type Wrong = [args: string, status: number, says: RegExp, env?: Record<string, string>];

const BATCH = ["--part-items", "2", "--fee", "1", "--budget", "1"];
const TRAINED = ["--shares", "2", "--fee", "1", "--budget", "1", "--state", "state.db"];

/*
 * BATCH stands for the flags of a batch of one item, TRAINED for those of a training over two shares.
 * MODEL, OPEN, EMPTY, HUGE, TEXT and X stand for files that the test writes: a good model, one with open shapes, one
 * with an output without elements, one that needs more memory than there is, no model, and an input. CHAIN stands for
 * the flags of a chain whose node is down, OTHER for those of one that serves another chain.
 */
const WRONG: Wrong[] = [
  // Commands and flags.
  ["", 2, /no command is given; refute --help/],
  ["complie m.onnx", 2, /unknown command 'complie' \(Did you mean refute model compile\?\); refute --help/],
  ["nothing", 2, /unknown command 'nothing'/],
  ["--nosuch", 2, /unknown option '--nosuch'/],
  ["check", 2, /missing required argument 'model'; refute check --help/],
  ["check MODEL more", 2, /too many arguments/],
  ["check MODEL --shap x=1", 2, /unknown option '--shap' \(Did you mean --shape\?\); refute check --help/],
  ["check MODEL --shape", 2, /option '--shape <name=dims>' argument missing/],
  ["help completion tcsh", 2, /SHELL tcsh: expected bash, zsh or fish/],
  ["help completion", 2, /missing required argument 'shell'/],
  ["device stand-in d.json", 2, /--manufacturer/],
  // Models and how they are compiled.
  ["check absent.onnx", 2, /absent\.onnx.*is missing/],
  ["check TEXT", 1, /text\.onnx.*\[MODEL_/],
  ["check https://host.example/m.onnx", 2, /https:\/\/host\.example: it is a URL, and URLs are not fetched/],
  ["check MODEL --shape x=1,99999999999999999999", 2, /the size 99999999999999999999 is 2\^32 or more/],
  ["check .", 2, /a folder, not a regular file/],
  ["check MODEL --shape nosuch=1", 2, /no input nosuch; its inputs are x/],
  ["check MODEL --bind nosuch=1", 2, /no input nosuch; its inputs are x/],
  ["check MODEL --uint8 nosuch", 2, /no input nosuch; its inputs are x/],
  ["check MODEL --shape x:1", 2, /--shape x:1: expected NAME=D0,D1/],
  ["check MODEL --bind x", 2, /--bind x: expected NAME=VALUE/],
  ["check MODEL --bind x=three", 2, /--bind x=three: expected a JSON value/],
  ["check MODEL --length x", 2, /--length x: expected INPUT=N/],
  ["model compile MODEL --length x=1", 1, /input "x": is a tensor: it takes no length/],
  ["model compile MODEL --length z=1", 1, /input "z": is none of the model's/],
  ["check MODEL --uint8 x,foo=1", 2, /--uint8 x,foo=1: .*foo/],
  ["check MODEL --uint8 x,scale=none", 2, /--uint8 .*scale: expected a number/],
  ["check MODEL --seed -1", 2, /--seed -1: expected a whole number below 2\^64/],
  ["check MODEL --compile-mib 1G", 2, /--compile-mib 1G: expected a whole number from 1 on/],
  ["check MODEL --compile-seconds 0", 2, /--compile-seconds 0: expected a whole number from 1 on/],
  ["check MODEL --step-bytes 131073", 2, /--step-bytes 131073: expected a whole number from 1 to 131072/],
  ["model compile MODEL --compile-nodes 1", 1, /--compile-nodes.*\[COMPILE_BUDGET\]/],
  ["model compile MODEL --shape x=1,65", 2, /\[1, 65\] does not fit the input "x" \[1, 64\]/],
  [
    "model compile OPEN",
    2,
    /"x" \[batch, 3\] leaves "batch" open: give its shape, for example --shape x=1,3, or --dim batch=N/,
  ],
  ["model compile EMPTY", 1, /no output has elements, so there is nothing to compute: "y" \[0\]/],
  ["run HUGE --input x=X1", 1, /needs \d+\.\d GiB of memory at once, at most 4.*--shape/],
  // Inputs.
  ["run MODEL", 2, /input x is missing: give --input x=FILE/],
  ["run MODEL --input x", 2, /--input x: expected NAME=FILE/],
  ["run MODEL --input x=X --input x=X1", 2, /--input x=.*x1\.json: x is given already/],
  ["run MODEL --input z=X", 2, /no input z; its inputs are x/],
  ["run MODEL --input x=absent.npy", 2, /absent\.npy.*is missing/],
  ["run MODEL --input x=X.txt", 2, /\.pb, \.npy or \.json|is missing/],
  ["run MODEL --uint8 x --compare --input x=X", 2, /--compare takes the model's own inputs/],
  ["model conform nowhere", 2, /cannot read the folder nowhere: it is missing \[CASE_FOLDER\]/],
  ["device dongle nowhere", 2, /nowhere: is no folder of a device.*\[STAND_IN_FILE\]/],
  ["run MODEL --input x=X --output y=y.txt", 2, /--output y=y\.txt: expected NAME=FILE\.npy/],
  ["run MODEL --input x=X --output z=z.npy", 2, /no output z; its outputs are y/],
  ["model audit MODEL --samples 1e9", 2, /--samples 1e9: expected a whole number from 0 to 100000/],
  ["model audit MODEL --samples 1000000000", 2, /--samples 1000000000: expected a whole number from 0 to 100000/],
  ["model audit MODEL --seed x", 2, /--seed x: expected a whole number/],
  // Settings of a chain.
  ["status", 2, /rpcUrl is missing .*chainId is missing .*market is missing/],
  [`status --rpc-url http://h --market ${MARKET}`, 2, /chainId is missing \(--chain-id, REFUTE_CHAIN_ID/],
  ["status CHAIN --chain-id abc", 2, /--chain-id abc: expected a whole number from 1 on/],
  ["status CHAIN", 2, /REFUTE_FROM_BLOCK -1: expected the number of a block/, { REFUTE_FROM_BLOCK: "-1" }],
  ["status CHAIN --rpc-url=", 2, /--rpc-url is empty: expected the URL of a node/],
  ["status CHAIN --rpc-url ftp://host", 2, /--rpc-url has the protocol ftp, expected http or https/],
  ["status CHAIN --rpc-url nonsense", 2, /--rpc-url is no URL/],
  ["status CHAIN --market 0x12", 2, /--market 0x12: expected an address/],
  ["status CHAIN --account 0x12", 2, /--account 0x12: expected an address, 0x and 40 hexadecimal digits/],
  [`status CHAIN --account 0x${"aB".repeat(20)}`, 2, /capitals are its checksum/],
  [`result ${JOB} CHAIN --program X`, 2, /x\.json.*\[PROGRAM_DESCRIPTION\]/],
  [`result ${JOB} CHAIN --model MODEL --output y=a.npy --output y=b.npy`, 2, /--output y=b\.npy: y is given already/],
  ["status 0x12 CHAIN", 2, /JOB 0x12: expected a job's id/],
  ["status CHAIN", 3, /http:\/\/127\.0\.0\.1:9999 gives no answer .*ECONNREFUSED \[RPC_UNAVAILABLE\]/],
  [`status --rpc-url http://127.0.0.1:1 --chain-id 1 --market ${MARKET}`, 3, /HTTP clients refuse this port/],
  ["status OTHER", 2, /\[WRONG_CHAIN\]/],
  ["status --config absent.json", 2, /cannot read the config file absent\.json: it is missing/],
  ["status --config TEXT", 2, /config file .* is not JSON/],
  // Amounts and times.
  ["account deposit abc CHAIN", 2, /AMOUNT abc: expected an amount over 0 .*0\.05ether, 50gwei, 1000wei/],
  ["account deposit CHAIN -- -1", 2, /AMOUNT -1: expected an amount over 0/],
  ["account deposit 1e30 CHAIN", 2, /AMOUNT 1e30: expected an amount/],
  ["account deposit 0 CHAIN", 2, /AMOUNT 0: expected an amount over 0/],
  ["account deposit 0.5wei CHAIN", 2, /AMOUNT 0\.5wei: .*wei has no decimals/],
  ["account deposit 1.0000000001gwei CHAIN", 2, /gwei has at most 9 decimals/],
  ["account deposit 0.0000000000000000001 CHAIN", 2, /the stake asset has at most 18 decimals/],
  ["account deposit 5lovelace CHAIN", 2, /AMOUNT 5lovelace: expected/],
  [`account deposit ${"9".repeat(30)} CHAIN`, 2, /more than contracts count/],
  ["account withdraw 1 --to 0x12 CHAIN", 2, /--to 0x12: expected an address/],
  ["submit MODEL CHAIN", 2, /fee is missing \(--fee, REFUTE_FEE/],
  ["submit MODEL CHAIN --fee 1 --top 5", 2, /--top also needs --wait/],
  ["submit MODEL CHAIN --fee 1 --output y=y.npy", 2, /--output also needs --wait/],
  ["job canary MODEL CHAIN --fee 1 --purse 1 --inputs z=.", 2, /no input z; its inputs are x/],
  ["submit MODEL CHAIN --fee -1", 2, /--fee -1: expected an amount/],
  ["submit MODEL CHAIN --fee 1 --window soon", 2, /--window soon: expected seconds .*30m, 2h or 1d/],
  ["submit MODEL CHAIN --fee 1 --claim-seconds 2h --deadline-seconds 1h", 2, /--deadline-seconds 3600: .*7200/],
  ["job dispatch MODEL CHAIN", 2, /partItems is missing.*fee is missing.*budget is missing.*state is missing/],
  ["job dispatch MODEL CHAIN --part-items 0", 2, /--part-items 0: expected a whole number from 1 to 65536/],
  ["job dispatch MODEL CHAIN --check 2", 2, /--check 2: expected a part from 0 to 1/],
  ["job dispatch MODEL CHAIN BATCH", 2, /--output is missing: give --output NAME=FILE.npy, of y/],
  ["job dispatch MODEL CHAIN BATCH --output y=y.npy", 2, /"y" is each item's own.*give --from URL/],
  [
    "job dispatch MODEL CHAIN BATCH --output y=/nowhere/y.npy --from http://a",
    2,
    /y.npy.partial|y.npy cannot be written/,
  ],
  ["job dispatch MODEL CHAIN --decoder --part-items 1 --fee 1 --budget 1 --state s", 2, /its caches are.*--chain/],
  ["job dispatch MODEL CHAIN BATCH --place-url http://a", 2, /--place-folder and --place-url belong together/],
  ["job dispatch MODEL CHAIN --chain --part-items 1 --fee 1 --budget 1 --state s", 2, /--chain says how a decoder/],
  ["job train MODEL CHAIN TRAINED", 2, /training makes a loss small: give --loss/],
  ["job train MODEL CHAIN TRAINED --loss output --share part=2", 2, /--share: --shares says how many/],
  ["job train MODEL CHAIN TRAINED --loss output --place-url http://a", 2, /--place-folder and --place-url belong/],
  [
    "job train MODEL CHAIN TRAINED --place-folder /dev/null/files --place-url http://a",
    2,
    /--place-folder \/dev\/null\/files: cannot be written/,
  ],
  ["worker CHAIN --models MODELS --min-fee abc", 2, /--min-fee abc: expected an amount in whole units/],
  ["worker CHAIN --models MODELS --interval 0", 2, /--interval 0: expected a number above 0/],
  ["worker CHAIN --models MODELS --monitor-port 65536", 2, /--monitor-port 65536: .*from 0 to 65535/],
  ["worker CHAIN --models MODELS --log-level loud", 2, /--log-level loud: expected trace, debug, info, warn or error/],
  ["worker CHAIN --models absent.json", 2, /models file absent\.json/],
  ["watcher CHAIN --models MODELS --mode attack", 2, /--mode attack: expected watch or defend/],
  // Keys.
  [
    "account deposit 1 CHAIN",
    2,
    /no key: give --keystore FILE .* or set REFUTE_PRIVATE_KEY/,
    { REFUTE_PRIVATE_KEY: "" },
  ],
  ["account deposit 1 CHAIN --keystore absent.json", 2, /absent\.json.*is missing \[KEY\]/],
];

describe("wrong invocations", function () {
  let folder: string;
  let server: Server;
  let other: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    const write = (name: string, data: string | Uint8Array): void => writeFileSync(join(folder, name), data);
    const x = { name: "x", dtype: DType.float32 };
    const y = { name: "y", dtype: DType.float32 };
    write("mlp.onnx", mlpBytes());
    write("text.onnx", "not a model");
    write("x.json", JSON.stringify([Array.from({ length: 64 }, () => 0)]));
    write("x1.json", "[1]");
    write("models.json", JSON.stringify([{ path: join(folder, "mlp.onnx") }]));
    const relu = [{ op: "Relu", inputs: ["x"], outputs: ["y"] }];
    write("open.onnx", buildModel({ inputs: [{ ...x, shape: ["batch", 3] }], outputs: [y], nodes: relu }));
    const slice = [{ op: "Slice", inputs: ["x", "at", "at"], outputs: ["y"] }];
    const initializers = { at: int64Tensor([2]) };
    write("empty.onnx", buildModel({ inputs: [{ ...x, shape: [4] }], outputs: [y], initializers, nodes: slice }));
    const tensors = Array.from({ length: 11 }, (_, k) => `a${k}`);
    const softmaxes = tensors.slice(1).map((name, k) => ({ op: "Softmax", inputs: [`a${k}`], outputs: [name] }));
    const huge = [
      { op: "Expand", inputs: ["x", "size"], outputs: ["a0"] },
      ...softmaxes,
      { op: "Sum", inputs: tensors.slice(1), outputs: ["y"] },
    ];
    const size = { size: int64Tensor([2 ** 14, 2 ** 13]) };
    write("huge.onnx", buildModel({ inputs: [{ ...x, shape: [1] }], outputs: [y], initializers: size, nodes: huge }));
    server = createServer((request, response) => {
      void json(request).then((call) => {
        const { id } = call as { id: number };
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x63" }));
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    rmSync(folder, { recursive: true });
    server.closeAllConnections();
    server.close();
  });

  /** The arguments that a row means. */
  const argsOf = (text: string): string[] => {
    const files: Record<string, string> = { MODEL: "mlp.onnx", OPEN: "open.onnx", EMPTY: "empty.onnx" };
    Object.assign(files, { HUGE: "huge.onnx", TEXT: "text.onnx", MODELS: "models.json", X: "x.json", X1: "x1.json" });
    const chainOf = (url: string): string[] => ["--rpc-url", url, "--chain-id", "1", "--market", MARKET];
    const wordOf = (word: string): string[] => {
      if (word === "CHAIN") return chainOf(DOWN);
      if (word === "OTHER") return chainOf(other);
      if (word === "TRAINED") return TRAINED;
      if (word === "BATCH")
        return ["--batch", ...BATCH, "--input", `x=${join(folder, "x.json")}`, "--state", join(folder, "batch.db")];
      return [word.replace(/(?<=^|=)[A-Z]+1?$/, (name) => (name in files ? join(folder, files[name]!) : name))];
    };
    return text === "" ? [] : text.split(" ").flatMap(wordOf);
  };

  it("thereAreAtLeastSixty", () => {
    expect(WRONG.length).to.be.at.least(60);
  });

  for (const [text, status, says, env = {}] of WRONG) {
    it(`refute ${text.length > 90 ? `${text.slice(0, 90)}...` : text}: saysWhatIsWrong_inALine`, async () => {
      const args = argsOf(text);
      const all = { REFUTE_PRIVATE_KEY: KEY, ...env };
      const plain = await refute(args, all);
      const last = plain.stderr.trimEnd().split("\n").at(-1)!;
      expect(plain.status, plain.output).to.equal(status);
      expect(last)
        .to.match(/^refute: .+ \[[A-Z_]+\]$/)
        .and.match(says);
      expect(plain.stderr)
        .not.to.match(/^\s+at /m)
        .and.not.match(/received nan|invalid_type|unexpected/i);
      expect(plain.stderr.trimEnd().split("\n"), "one line").to.have.length(1);

      const dashes = args.indexOf("--");
      const json = await refute(args.toSpliced(dashes < 0 ? args.length : dashes, 0, "--json", "--quiet"), all);
      expect(json.status).to.equal(status);
      const { error } = JSON.parse(json.stderr) as { error: { code: string; message: string; retryable: boolean } };
      expect(`refute: ${error.message} [${error.code}]`).to.equal(last);
      expect(error.retryable).to.equal(status === 3);
    });
  }

  it("jobThatNobodyPosted_onAWrongMarket_isRefusedBeforeItIsLookedFor", async () => {
    const { status } = await refute(["status", JOB, ...argsOf("OTHER")]);
    expect(status).to.equal(2);
  });

  it("errorThatNobodyExpected_isOneLine_andItsStackIsShownOnRequest", async () => {
    const { Output, outputMode } = await import("../../src/cli/output.ts");
    const lines: string[] = [];
    const { error } = console;
    console.error = (text: unknown) => void lines.push(String(text));
    try {
      new Output(outputMode([], {})).error(new TypeError("broken"), {});
      new Output(outputMode([], {})).error(new TypeError("broken"), { REFUTE_DEBUG: "1" });
    } finally {
      console.error = error;
    }
    expect(lines[0]).to.match(/^refute: unexpected: TypeError: broken; REFUTE_DEBUG=1 shows where.*\[UNEXPECTED\]$/);
    expect(lines[1]).to.match(/\n +at /);
  });
});
