import { expect } from "chai";
import type { ServerResponse } from "node:http";
import { NativeRuntimeError } from "../../src/native/errors.ts";
import { encodeFrame, type FramedTensor } from "../../src/native/frame.ts";
import { HttpNative } from "../../src/native/httpNative.ts";
import { nativeAnswer } from "../../src/native/nativeAnswer.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { classifierBytes } from "../../testkit/models/classifier.ts";
import { calibrationOf } from "../../testkit/native/nativePrograms.ts";
import { NativeServer } from "../../testkit/native/nativeServer.ts";
import { openBoth, type OpenedModel } from "../../testkit/native/openedModel.ts";
import { rejection } from "../../testkit/rejection.ts";

const INPUT = floatTensor(Array.from({ length: 32 }, (_, i) => Math.sin(i))).bytes;

describe("a native runtime over HTTP", () => {
  let opened: OpenedModel;
  let server: NativeServer;
  let url: string;

  before(async () => {
    opened = await openBoth(classifierBytes());
    server = new NativeServer(opened.native, opened.signature);
    url = await server.listen();
  });
  beforeEach(() => (server.fault = undefined));
  after(async () => {
    await server.close();
    await opened.close();
  });

  const runtime = (options: { name?: string; seconds?: number; url?: string } = {}) =>
    new HttpNative({ url, signature: opened.signature, ...options });
  /** Answers with what the server would have answered, changed. */
  const changed = (change: (tensors: FramedTensor[]) => FramedTensor[]) => async (response: ServerResponse) => {
    const { inputs, outputs, deciding } = opened.signature;
    const wanted = [...outputs, ...deciding].map(({ name }) => name);
    const request = encodeFrame([{ ...inputs[0]!, bytes: INPUT }], { wanted });
    response.end(await server.answerTo(request, change));
  };
  const answer = (native: HttpNative) =>
    nativeAnswer({ runtime: native, calibration: calibrationOf(opened), outputs: opened.outputs, factor: 16 }, [INPUT]);

  it("run_honestServer_givesWhatTheRuntimeGives", async () => {
    const own = await opened.native.run([INPUT]);
    const native = runtime();
    expect(await native.run([INPUT])).to.deep.equal(own);
    expect(native.name).to.equal(opened.native.name);
    expect((await answer(native)).kind).to.equal("native");
  });

  const garbage: Record<string, (response: ServerResponse) => void> = {
    "an error": (response) => response.writeHead(500).end("no"),
    nothing: (response) => response.end(),
    garbage: (response) => response.end(Buffer.alloc(64, 0xff)),
    "a head that is no JSON": (response) => response.end(Buffer.from([2, 0, 0, 0, 0x7b, 0x7b])),
    "a cut connection": (response) => response.destroy(),
    "a redirect": (response) => response.writeHead(307, { location: "/elsewhere" }).end(),
    "too many bytes": (response) => response.end(Buffer.alloc(2 ** 21)),
    "no name": (response) => response.end(encodeFrame([])),
    "a shape of no size": (response) =>
      response.end(encodeFrame([{ name: "x", dtype: DType.float32, shape: [2 ** 40, 2 ** 40], bytes: INPUT }])),
  };
  for (const [what, fault] of Object.entries(garbage))
    it(`run_${what.replaceAll(" ", "_")}_failsWithATypedErrorAndIsNoAnswer`, async () => {
      server.fault = fault;
      const error = await rejection(runtime().run([INPUT]));
      expect(error).to.be.instanceOf(NativeRuntimeError);
      expect((await answer(runtime())).kind).to.equal("failed");
    });

  it("run_serverThatIsGoneOrLate_failsWithinItsTime", async () => {
    const gone = await rejection(runtime({ url: "http://127.0.0.1:9" }).run([INPUT]));
    expect(gone).to.be.instanceOf(NativeRuntimeError);
    server.fault = () => undefined;
    expect(await rejection(runtime({ seconds: 0.1 }).run([INPUT]))).to.be.instanceOf(NativeRuntimeError);
    server.fault = (response) => void response.writeHead(200).write("a");
    expect(await rejection(runtime({ seconds: 0.1 }).run([INPUT]))).to.be.instanceOf(NativeRuntimeError);
  });

  it("run_tokenInTheUrl_isNotInTheError", async () => {
    const { message } = await rejection(runtime({ url: "http://127.0.0.1:9/secret-token" }).run([INPUT]));
    expect(message).not.to.include("secret-token");
  });

  it("run_anotherRuntimeThanCalibrated_fails", async () => {
    const error = await rejection(runtime({ name: "another" }).run([INPUT]));
    expect(error.message).to.include("calibrated was another");
  });

  it("run_tensorsMissingOrOfAnotherTypeOrShape_fail", async () => {
    const changes: ((tensors: FramedTensor[]) => FramedTensor[])[] = [
      (tensors) => tensors.slice(1),
      (tensors) => tensors.slice(0, 1),
      (tensors) => tensors.map((tensor) => ({ ...tensor, shape: [1, ...tensor.shape] })),
      ([output, logits]) => [{ ...output!, dtype: DType.uint64 }, logits!],
      ([output, logits]) => [output!, { ...logits!, shape: [1, 9], bytes: logits!.bytes.subarray(4) }],
    ];
    for (const change of changes) {
      server.fault = (response) => void changed(change)(response);
      expect((await answer(runtime())).kind).to.equal("failed");
    }
  });

  it("answer_nanAmongWhatDecides_isThin", async () => {
    server.fault = (response) =>
      void changed(([output, logits]) => [
        output!,
        { ...logits!, bytes: floatTensor([NaN, 1, 2, 3, 4, 5, 6, 7, 8, 9]).bytes },
      ])(response);
    expect((await answer(runtime())).kind).to.equal("thin");
  });

  it("answer_inputsOutsideTheBox_askNobody", async () => {
    const { requests } = server;
    const native = { runtime: runtime(), calibration: calibrationOf(opened), outputs: opened.outputs, factor: 16 };
    const result = await nativeAnswer(native, [floatTensor(new Array<number>(32).fill(1e20)).bytes]);
    expect(result.kind).to.equal("outside");
    expect(server.requests).to.equal(requests);
  });
});
