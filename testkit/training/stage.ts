import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Share } from "../../src/compiler/passes/shares/cutBatch.ts";
import type { SumForm } from "../../src/compiler/passes/shares/sumSteps.ts";
import type { TrainSpec } from "../../src/compiler/wraps/trainSpec.ts";
import { TRAINING } from "../../src/compiler/wraps/wrapTraining.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import type { JobRecord } from "../../src/chain/market/history.ts";
import { SharedTraining } from "./shares.ts";
import type { Training } from "./trainer.ts";

/** A training's files: the model, the batches, and a web server for the jobs' inputs. */
export class Stage {
  readonly folder: string = mkdtempSync(join(tmpdir(), "refute-shares-"));
  readonly spec: TrainSpec;
  readonly steps: number;
  readonly shares: number;
  readonly #form: Pick<Share, "sums">;
  readonly #part: SharedTraining;
  readonly #examples: number;
  readonly #files: Server;
  readonly #steps: ReadonlyMap<string, number>;

  private constructor({ onnx, spec, rates, batch }: Training, shares: number, sums: SumForm, files: Server) {
    [this.steps, this.shares, this.#files] = [rates.length, shares, files];
    this.#form = sums === "exact" ? {} : { sums };
    this.spec = { ...spec, rates: rates.length };
    for (const name of ["x", "labels", "files"]) mkdirSync(this.at(name));
    writeFileSync(this.at("model.onnx"), onnx);
    writeFileSync(this.at("rates.json"), JSON.stringify([...rates]));
    const batches = Array.from(rates, (_, step) => batch(step));
    for (const [step, given] of batches.entries())
      for (const name of ["x", TRAINING.labels]) writeFileSync(this.batchFile(name, step), given[name]!);
    this.#part = new SharedTraining(readModel(onnx), this.spec);
    this.#examples = this.#part.program().inputs.find(({ name }) => name === "x")!.shape[0]!;
    this.#steps = this.#stepsByRoot(batches.map((given) => given.x!));
  }

  static async open(training: Training, shares: number, sums: SumForm): Promise<Stage> {
    const files = createServer(({ url }, response) =>
      response.end(readFileSync(join(stage.at("files"), url!.slice(1)))),
    );
    const stage = new Stage(training, shares, sums, files);
    await new Promise<void>((resolve) => void files.listen(0, "127.0.0.1", resolve));
    return stage;
  }

  readonly at = (name: string): string => join(this.folder, name);

  /** The file with an input's whole batch. */
  batchFile(name: string, step: number): string {
    return this.at(`${name}/${String(step).padStart(6, "0")}.bin`);
  }

  /** The host of the jobs' inputs. */
  get host(): string {
    return `127.0.0.1:${(this.#files.address() as AddressInfo).port}`;
  }

  /** The options of the two programs. */
  get trains(): TrainSpec[] {
    const shares = [{ part: this.#examples / this.shares }, { join: this.shares }];
    return shares.map((share) => ({ ...this.spec, share: { ...share, ...this.#form } }));
  }

  /** Flags for `refute model train` and `refute job train`. */
  get flags(): string[] {
    const { loss, optimiser } = this.spec;
    return [
      ...[this.at("model.onnx"), "--loss", loss, "--optimiser", optimiser, "--rates", String(this.steps)],
      ...["--input", `x=${this.at("x")}`, "--labels", this.at(TRAINING.labels)],
      ...["--input", `rates=${this.at("rates.json")}`, "--json"],
    ];
  }

  /** A share's job's step; undefined for other jobs. */
  readonly stepOf = ({ inputRoots }: JobRecord): number | undefined =>
    inputRoots.map((root) => this.#steps.get(root)).find((step) => step !== undefined);

  #stepsByRoot(batches: readonly Uint8Array[]): Map<string, number> {
    const { program, inputs } = this.#part.program({ part: this.#examples / this.shares });
    const x = program.inputs[inputs.findIndex(({ name }) => name === "x")]!;
    return new Map(
      batches.flatMap((whole, step) => {
        const length = whole.length / this.shares;
        return Array.from({ length: this.shares }, (_, share): [string, number] => {
          const own = whole.subarray(share * length, (share + 1) * length);
          return [new RunInputs([x], { items: 1, firstItem: 0 }, [own]).roots[0]!, step];
        });
      }),
    );
  }

  close(): void {
    this.#files.close();
    rmSync(this.folder, { recursive: true });
  }
}
