import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { globSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect } from "chai";
import {
  ModelProtoSchema,
  StringStringEntryProtoSchema,
  TensorProto_DataLocation,
  TensorProtoSchema,
  type ModelProto,
} from "onnx-buf";
import { generatePrivateKey } from "viem/accounts";
import { zeroAddress } from "viem";
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { createLogger } from "../../src/base/log.ts";
import { logError } from "../../src/parties/role/loop.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { buildModel, tensorProto, type ModelSpec } from "../../testkit/onnx/onnxBuilder.ts";
import { refute } from "./refute.ts";

/** Writes the clipboard, clears the screen, begins a line, turns the direction of writing. */
const EVIL = "\x1b]52;c;aGk=\x07\x1b[2J\r\nrefute: ok\u2028\u202e\x9b1m";
/** Anything but visible ASCII in the outputs of these models comes from their names. */
const SHOWN = /^[\x20-\x7e\n…]*$/;

describe("names from outside in what commands print", function () {
  let folder: string;
  /** A node of another chain: a role waits for a node that does not answer. */
  let node: Awaited<ReturnType<typeof serveRpc>>;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    node = await serveRpc({ request: () => Promise.reject(new Error("not served")) }, ({ method }, pass) =>
      method === "eth_chainId" ? Promise.resolve("0x2") : pass(),
    );
  });
  after(async () => {
    await node.close();
    rmSync(folder, { recursive: true });
  });

  const file = (name: string, data: string | Uint8Array): string => {
    writeFileSync(join(folder, name), data);
    return join(folder, name);
  };
  const served = (): ModelSpec => ({
    inputs: [{ name: `x${EVIL}`, dtype: DType.float32, shape: [2] }],
    outputs: [{ name: `y${EVIL}`, dtype: DType.float32, shape: [2] }],
    initializers: { [`w${EVIL}`]: floatTensor([1, 2]) },
    nodes: [{ op: "Add", name: `n${EVIL}`, inputs: [`x${EVIL}`, `w${EVIL}`], outputs: [`y${EVIL}`] }],
  });
  const good = (): string => file("good.onnx", buildModel(served()));
  const refused = (): string =>
    file(
      "refused.onnx",
      buildModel({ ...served(), nodes: [{ ...served().nodes[0]!, op: `Add${EVIL}`, domain: `d${EVIL}` }] }),
    );
  const changed = (name: string, change: (model: ModelProto) => void): string => {
    const model = fromBinary(ModelProtoSchema, buildModel(served()));
    change(model);
    return file(name, toBinary(ModelProtoSchema, model));
  };
  const dimension = (): string =>
    file(
      "dimension.onnx",
      buildModel({ ...served(), inputs: [{ name: `x${EVIL}`, dtype: DType.float32, shape: [`d${EVIL}`] }] }),
    );
  const external = (): string =>
    changed("external.onnx", ({ graph }) => {
      const [tensor] = graph!.initializer;
      tensor!.rawData = new Uint8Array();
      tensor!.dataLocation = TensorProto_DataLocation.EXTERNAL;
      tensor!.externalData = [create(StringStringEntryProtoSchema, { key: "location", value: `w${EVIL}` })];
    });
  const models = (path: string): string => file("models.json", JSON.stringify([{ path }]));
  const conformFolder = (): string => {
    const at = join(folder, `cases`, `test_evil`);
    mkdirSync(join(at, "test_data_set_0"), { recursive: true });
    writeFileSync(join(at, "model.onnx"), readFileSync(refused()));
    const data = toBinary(TensorProtoSchema, tensorProto(`x${EVIL}`, floatTensor([1, 2])));
    for (const name of ["input_0.pb", "output_0.pb"]) writeFileSync(join(at, "test_data_set_0", name), data);
    return join(folder, "cases");
  };
  const chain = () => ["--rpc-url", node.url, "--chain-id", "1", "--market", zeroAddress];
  const input = (): string => `x${EVIL}=${file("x.json", JSON.stringify([1, 2]))}`;

  const commands: Record<string, () => string[]> = {
    compile: () => ["model", "compile", good()],
    "compile --json": () => ["model", "compile", good(), "--json"],
    "compile, refused": () => ["model", "compile", refused()],
    "compile, a dimension without a size": () => ["model", "compile", dimension()],
    "compile, external data": () => ["model", "compile", external()],
    "compile, no such file": () => ["model", "compile", join(folder, `no${EVIL}`)],
    check: () => ["check", good()],
    "check --json": () => ["check", good(), "--json"],
    "check, refused": () => ["check", refused()],
    "check --json, refused": () => ["check", refused(), "--json"],
    "check, external data": () => ["check", external()],
    "check, a dimension without a size": () => ["check", dimension()],
    run: () => ["run", good(), "--input", input()],
    "run --compare": () => ["run", good(), "--input", input(), "--compare"],
    "run --json": () => ["run", good(), "--input", input(), "--compare", "--json"],
    "run, an input is missing": () => ["run", good()],
    "run, an input of another shape": () => ["run", good(), "--input", `x${EVIL}=${file("y.json", "[1]")}`],
    "run, an input that is no tensor": () => ["run", good(), "--input", `x${EVIL}=${file("z.json", `"${"\\u001b"}"`)}`],
    audit: () => ["model", "audit", good(), "--samples", "1"],
    "audit --json": () => ["model", "audit", good(), "--samples", "1", "--json"],
    conform: () => ["model", "conform", conformFolder()],
    "conform --json": () => ["model", "conform", conformFolder(), "--json"],
    "submit, an input is missing": () => ["submit", good(), "--fee", "1", ...chain()],
    "submit, an unknown input": () => ["submit", good(), "--fee", "1", ...chain(), "--input", `a${EVIL}=${EVIL}`],
    worker: () => ["worker", ...chain(), "--models", models(refused())],
    watcher: () => ["watcher", ...chain(), "--models", models(external())],
    "a config file": () => ["worker", "--config", file("config.json", JSON.stringify({ [EVIL]: 1 }))],
  };

  for (const [name, args] of Object.entries(commands)) {
    it(`${name}: commandsNoTerminal_forgesNoLine`, async () => {
      const { output } = await refute(args(), { REFUTE_PRIVATE_KEY: generatePrivateKey() });
      expect(output).not.to.equal("");
      expect(output).to.match(SHOWN);
      expect(output.split("\n").filter((line) => line.startsWith("refute: ok"))).to.deep.equal([]);
    });
  }

  it("anUnknownOptionOrCommand_commandsNoTerminal", async () => {
    for (const args of [["run", `--${EVIL}`], [`run${EVIL}`]]) expect((await refute(args)).output).to.match(SHOWN);
  });

  it("commands_printThroughOnePlace", () => {
    const writers = globSync("src/cli/**/*.ts").filter((path) => /\bconsole\./.test(readFileSync(path, "utf8")));
    expect(writers).to.deep.equal(["src/cli/output.ts"]);
  });

  for (const isTTY of [true, false]) {
    it(`aLog_${isTTY ? "onATerminal" : "inAFile"}_isPrintable_aLineForEachEvent`, () => {
      let text = "";
      const out = { isTTY, write: (line: string) => void (text += line) };
      const log = createLogger("info", out);
      log.info({ reason: EVIL, list: [EVIL], long: "x".repeat(1e6) }, `a message ${EVIL}`);
      logError(log, new Error(EVIL));
      expect(text).to.match(SHOWN);
      expect(text.trimEnd().split("\n")).to.have.length(2);
      expect(text).to.have.length.below(20_000);
      expect(text).to.match(isTTY ? /^\S+ info  / : /^\{"level":"info",/);
      // Not even once it is decoded.
      if (!isTTY) expect((JSON.parse(text.split("\n")[0]!) as { reason: string }).reason).to.match(SHOWN);
    });
  }
});
