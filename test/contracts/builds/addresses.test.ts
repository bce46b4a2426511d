import { expect } from "chai";
import { globSync, readFileSync } from "node:fs";
import { movingAddresses } from "../../../tools/verify/builds/addresses.ts";
import { itAtLength } from "../../../testkit/atLength.ts";

/** Addresses that move, left because the other form takes more gas. `npm run verify -- builds` tests them. */
const ACCEPTED = [
  "contracts/merkle/PositionalMerkle.sol _climb side",
  "contracts/merkle/PositionalMerkle.sol _foldLevel nodes",
  "contracts/merkle/PositionalMerkle.sol _foldLevel positions",
  "contracts/merkle/PositionalMerkle.sol _foldLevel toPosition",
  "contracts/test/ContractChallenger.sol call word",
  "contracts/verifier/ExactSum.sol addProducts a",
  "contracts/verifier/ExactSum.sol addProducts b",
];

describe("addresses in assembly", () => {
  itAtLength("addressesThatMove_areThoseAccepted", function () {
    this.timeout(300_000);
    const files = globSync("contracts/**/*.sol");
    const found = files.flatMap((file) =>
      movingAddresses(readFileSync(file, "utf8")).map((place) => `${file} ${place}`),
    );
    expect(found.sort()).to.deep.equal(ACCEPTED);
  });

  const inFunction = (assembly: string): string[] =>
    movingAddresses(`function f(uint256 a, uint256 n) { assembly { ${assembly} } }`);

  it("addressAtAConstantDistanceFromAMovingVariable_isFound", () => {
    expect(
      inFunction("for { let p := a } lt(p, n) { p := add(p, 32) } { let q := add(p, 64) mstore(q, 0) }"),
    ).to.deep.equal(["f p"]);
    expect(inFunction("let p := a mstore(p, 0) p := add(p, 32) mstore(p, 0)")).to.deep.equal(["f p"]);
    expect(inFunction("for {} n { n := sub(n, 1) } { a := add(a, 32) pop(mload(a)) }")).to.deep.equal(["f a"]);
  });

  it("addressAtAMovingDistanceFromAFixedBase_isNot", () => {
    expect(inFunction("for { let k := n } k { k := sub(k, 32) } { mstore(add(a, k), 0) }")).to.deep.equal([]);
    expect(inFunction("for { let k := n } k { k := sub(k, 32) } { let p := add(a, k) mstore(p, 0) }")).to.deep.equal(
      [],
    );
    expect(inFunction("for { let p := a } lt(p, n) { p := add(p, 32) } { pop(calldataload(p)) }")).to.deep.equal([]);
  });
});
