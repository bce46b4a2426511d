import { expect } from "chai";
import { svgOf } from "../../tools/measure/chart.ts";
import {
  chosenShare,
  heldShare,
  HONEST,
  partTimeShare,
  type Setting,
} from "../../tools/measure/attestation/relay/simulate.ts";

const held = (changes: Partial<Setting>, rounds = 2_000): number => heldShare({ ...HONEST, ...changes }, rounds, 1);

/** The chance of at least 12 of 16 passes, each with a probability. */
function of16(pass: number): number {
  let [sum, ways] = [0, 1];
  for (let k = 0; k <= 16; k++) {
    if (k >= 12) sum += ways * pass ** k * (1 - pass) ** (16 - k);
    ways = (ways * (16 - k)) / (k + 1);
  }
  return sum;
}

describe("the simulation of relays", () => {
  it("honestDevice_holdsAsOftenAsTheBinomialSays", () => {
    const quick = { delay: 0, away: 0.2 };
    expect(held(quick, 40_000)).to.be.closeTo(of16(0.8), 0.02);
    expect(held({ delay: 0, away: 0 })).to.equal(1);
  });

  it("oneCard_holdsNoMoreDevicesThanItCanServeInThreeQuartersOfTheExams", () => {
    const sure = { delay: 0, away: 0 };
    expect(8 * held({ ...sure, devices: 8, task: 0.6 })).to.be.at.most(1);
    expect(8 * held({ ...sure, devices: 8, task: 0.3 })).to.be.at.most(3 / 0.75);
    expect(held({ ...sure, devices: 8, task: 0.6, isShared: false })).to.equal(1);
  });

  it("builder_whoMakesEachOfItsBlocksAnExam_choosesMoreThanItsShare", () => {
    expect(chosenShare(0.1, 1)).to.be.closeTo(0.1, 1e-12);
    expect(chosenShare(0.1, 32)).to.be.closeTo(0.1 / (0.1 + 0.9 / 32), 1e-12);
    expect(partTimeShare(0.8, 0, 32)).to.be.closeTo(of16(0.8), 1e-12);
  });

  it("picture_hasALineForEachCurve", () => {
    const svg = svgOf({
      title: "a title",
      x: "over",
      y: "share",
      lines: [
        { name: "one", points: [[1, 0]] },
        { name: "two", points: [[2, 1]] },
      ],
    });
    expect(svg.match(/stroke-width="2"/g)).to.have.length(4);
    expect(svg).to.contain("<title>a title: share over over</title>");
  });
});
