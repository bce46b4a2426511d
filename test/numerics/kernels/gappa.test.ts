import { expect } from "chai";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { L, PER_L } from "../../../src/numerics/kernels/elementary/exponential.ts";
import { inverseFactorial } from "../../../src/numerics/kernels/elementary/vectorMath.ts";
import { itAtLength, itInTime } from "../../../testkit/atLength.ts";

const FOLDER = join(import.meta.dirname, "gappa");

/** A float64 as Gappa writes numbers: an integer, b, an exponent of 2. */
function dyadic(value: number): string {
  let [mantissa, exponent] = [value, 0];
  for (; !Number.isInteger(mantissa); exponent--) mantissa *= 2;
  return `${mantissa}b${exponent}`;
}

/** The coefficients as the kernels compute them. */
function coefficientOf(name: string): number {
  const n = Number(name.slice(1));
  // Of logarithms; of e^x, all of them positive; of sine and cosine, whose signs alternate.
  if (name.startsWith("N")) return (n % 2 === 0 ? -1 : 1) / n;
  return inverseFactorial(n);
}

type Build = "fused" | "separate";

/**
 * A script with the kernels' constants in it. MADD is rounded once or twice, as the build has it, and so is a PRODUCT
 * to which something is added; lines of FUSED are for that build. The coefficients C of the mathematics are a rounding
 * away from those of the kernel.
 */
function scriptOf(file: string, build: Build): string {
  const text = readFileSync(join(FOLDER, file), "utf8");
  const alternates = file.startsWith("sin") || file.startsWith("cos");
  const valueOf = (name: string): number => {
    const value = coefficientOf(name);
    return alternates && Math.floor(Number(name.slice(1)) / 2) % 2 === 1 ? -value : value;
  };
  const names = [...new Set([...text.matchAll(/\$([CN]\d+)/g)].map(([, name]) => name!))];
  const hypotheses = names.map((name) => {
    const value = valueOf(name);
    const ends = [0.999 * value, 1.001 * value].sort((a, b) => a - b);
    const near = `(${dyadic(value)} - ${name}) / ${name} in [-1b-53, 1b-53]`;
    return `\n  /\\ ${near} /\\ ${name} in [${ends.map(dyadic).join(", ")}]`;
  });
  return text
    .replaceAll("$PER_L", dyadic(PER_L))
    .replaceAll("$L", dyadic(L))
    .replaceAll("$COEFFICIENTS", hypotheses.join(""))
    .replace(/\$([CN]\d+)/g, (_, name: string) => dyadic(valueOf(name)))
    .replace(/^FUSED (.*)$/gm, build === "fused" ? "$1" : "")
    .replace(/MADD\(([^,]*), ([^,]*), ([^)]*)\)/g, "rnd(PRODUCT($1, $2) + $3)")
    .replace(/PRODUCT\(([^,]*), ([^)]*)\)/g, build === "fused" ? "($1 * $2)" : "rnd($1 * $2)");
}

const gappa = (script: string): { status: number | null; stderr: string } => {
  const { status, stderr } = spawnSync("gappa", [], { input: script, encoding: "utf8", timeout: 60_000 });
  return { status, stderr };
};

describe("bounds of estimates, by Gappa", function () {
  this.timeout(120_000);

  before(function () {
    if (spawnSync("gappa", ["--version"]).status === 0) return;
    console.warn("      no proofs of bounds: install gappa");
    this.skip();
  });

  for (const file of readdirSync(FOLDER))
    for (const build of ["fused", "separate"] as const)
      itInTime(`${file.replace(".gappa", "")}_${build}_isProved`, () => {
        const { status, stderr } = gappa(scriptOf(file, build));
        expect(status, stderr).to.equal(0);
      });

  itAtLength("boundThatTheRoundingsExceed_isNotProved", () => {
    const script = scriptOf("log.gappa", "fused");
    expect(gappa(script.replace(/<= 1.88e-16/, "<= 1e-16")).status).not.to.equal(0);
  });
});
