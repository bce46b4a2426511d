import { expect } from "chai";
import { parseEther } from "viem";
import { errorsAbi } from "../../src/chain/abi/errors.ts";
import { ContractRevertError } from "../../src/chain/errors.ts";

describe("the words of a contract's refusal", () => {
  const says = (name: string, ...args: unknown[]): string => new ContractRevertError("post", name, args).message;

  it("amountsAndTimes_areNamed_inWholeUnitsAndAsDates", () => {
    expect(says("CollateralOutOfRange", parseEther("0.1"), parseEther("1.8"))).to.equal(
      "post is refused: CollateralOutOfRange(given 0.1 of the stake asset, least 1.8 of the stake asset)",
    );
    expect(says("WithdrawalNotReady", 1_800_000_000n)).to.contain("(readyAt 2027-01-15T08:00:00.000Z)");
    expect(says("WindowOutOfRange", 5, 12n, 86_400n)).to.contain("(window 5, least 12, most 86400)");
    expect(says("NotInTheAbi", 5n)).to.equal("post is refused: NotInTheAbi(5)");
  });

  it("everyKnownError_hasWords_forAllItsArguments", () => {
    const errors = errorsAbi.flatMap((item) => (item.type === "error" ? [item] : []));
    for (const { name, inputs } of errors) {
      const text = says(name, ...inputs.map((_, k) => 2n ** BigInt(8 * k)));
      // Of errors with one name and one number of arguments, one gives the names.
      const alike = errors.filter((other) => other.name === name && other.inputs.length === inputs.length);
      expect(alike.some((other) => other.inputs.every((input) => text.includes(input.name ?? "")))).to.equal(
        true,
        text,
      );
    }
  });
});
