import { expect } from "chai";
import { Command } from "commander";
import { UsageError } from "../../src/cli/errors.ts";
import { modelFlags, modelOptions, modelSpec, seedOption, type ModelOptions } from "../../src/cli/modelOptions.ts";

const specOf = (flags: readonly string[]) => {
  const command = seedOption(modelOptions(new Command())).exitOverride();
  return modelSpec("model.onnx", command.parse([...flags], { from: "user" }).opts<ModelOptions>());
};

describe("modelFlags", () => {
  it("specOfEveryFlag_isWhatItsFlagsGive", () => {
    const flags = [
      ...["--shape", "x=1,3,48,192", "--shape", "scalar=", "--bind", "sr=16000", "--bind", "mask=mask.npy"],
      ...["--bind", 'names=["a b","c"]', "--uint8", "x,layout=NCHW,mean=0.485:0.456:0.406,std=0.2,reverse=true"],
      ...["--decide", "a=b=round=2", "--decide", "scores=top5", "--decide", "logits=argmax"],
      ...["--drawn", "x[1,3,48,192]=-1:1.5", "--drawn", "ids=0:99", "--drawn", "a:b=-1e-3:2"],
      ...["--dim", "batch=1", "--dim", "sequence=128"],
      ...["--length", "seq=3", "--length", "option=0"],
      ...["--uint8", "y", "--seed", "18446744073709551615", "--step-bytes", "80000"],
      ...["--compile-seconds", "1200", "--compile-mib", "9", "--compile-nodes", "7", "--fold-elements", "8"],
      ...["--each", "a", "--each", "b", "--index", "i", "--each-output", "y", "--last-output", "z", "--carry", "p=q"],
    ];
    const spec = specOf(flags);
    expect(specOf(modelFlags(spec))).to.deep.equal(spec);
    expect(modelFlags(spec)).to.have.length(flags.length);
    const decoder = ["--decoder", "--slots", "64", "--end-token", "2", "--end-token", "3", "--greedy", "--chain"];
    expect(modelFlags(specOf(decoder))).to.deep.equal(decoder);
    expect(modelFlags(specOf(["--seed-input"]))).to.deep.equal(["--seed-input"]);
    const equals = ["--shape", "a=b=1,2", "--bind", "a=b=5", "--bind", 'c=d="e=f"', "--drawn", "a=b=-1:1"];
    const named = specOf([...equals, "--noise", "a=b=0.5", "--length", "a=b=3"]);
    expect(named).to.deep.include({ shapes: { "a=b": [1, 2] }, bind: { "a=b": 5, "c=d": "e=f" } });
    expect(named).to.deep.include({ drawn: { "a=b": { low: -1, high: 1 } }, noise: { "a=b": 0.5 } });
    expect(() => specOf(["--seed-input", "--seed", "1"])).to.throw(UsageError, "give one of both flags");
    expect(() => specOf(["--dim", "sequence=1,2"])).to.throw(UsageError, "refute model compile takes several");
    expect(() => specOf(["--dim", "sequence=0"])).to.throw(UsageError, "expected NAME=N");
    expect(() => specOf(["--drawn", "x=1"])).to.throw(UsageError, "expected INPUT=LOW:HIGH");
    expect(() => specOf(["--slots", "64"])).to.throw(UsageError, "--decoder");
    expect(modelFlags(specOf(["--batch"]))).to.deep.equal(["--batch"]);
    expect(modelFlags(specOf([]))).to.deep.equal([]);
  });
});
