import { expect } from "chai";
import type { GpuDevice } from "../../../src/executor/gpu/api.ts";
import { Gpu } from "../../../src/executor/gpu/device.ts";
import { rejection } from "../../../testkit/rejection.ts";

const FACTS = { name: "a GPU of tests", vendor: "", driver: "", isSoftware: true, maxBytes: 1 };
const BOUNDS = { pageBytes: 256, pages: 1, uniformBytes: 1, hasDot4: false };

/** A device whose scopes of errors are a stack, as those of WebGPU are. */
class DeviceOfScopes {
  readonly lost = new Promise<never>(() => undefined);
  readonly #scopes: { filter: string; error: { message: string } | null }[] = [];

  pushErrorScope(filter: string): void {
    this.#scopes.push({ filter, error: null });
  }

  popErrorScope(): Promise<{ message: string } | null> {
    return Promise.resolve(this.#scopes.pop()!.error);
  }

  /** An error goes to the last scope of the kind. */
  err(kind: string, message: string): void {
    this.#scopes.findLast(({ filter }) => filter === kind)!.error ??= { message };
  }
}

describe("an open GPU", () => {
  it("whoseDriverGivesNoResult_isUsedNoMore_andNothingWaitsForIt", async () => {
    const never = new Promise<never>(() => undefined);
    const device = {
      lost: never,
      createBindGroupLayout: () => ({}),
      createPipelineLayout: () => ({}),
      pushErrorScope: () => undefined,
      popErrorScope: () => never,
    } as unknown as GpuDevice;
    const gpu = new Gpu(device, FACTS, BOUNDS, 5);
    for (const work of [() => never, () => 1]) {
      const failure = await rejection(gpu.watched(work));
      expect(failure).to.have.property("code", "EXECUTION_DEVICE");
      expect(failure.message).to.match(/^a GPU of tests: no result after 0\.005 seconds; /);
    }
  });

  it("erringWork_fails_alsoIfAnotherWorkBeganMeanwhile", async () => {
    const device = new DeviceOfScopes();
    const gpu = new Gpu(device as unknown as GpuDevice, FACTS, BOUNDS);
    let [endFirst, endSecond] = [(): void => undefined, (): void => undefined];
    const first = gpu.watched(() => {
      device.err("out-of-memory", "no room");
      return new Promise<void>((resolve) => (endFirst = resolve));
    });
    const second = gpu.watched(() => new Promise<void>((resolve) => (endSecond = resolve)));
    setImmediate(() => endFirst());
    expect((await rejection(first)).message).to.include("a GPU of tests: no room");
    endSecond();
    expect((await rejection(second)).message).to.include("a GPU of tests: no room");
  });
});
