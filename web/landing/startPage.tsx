import { routeHash } from "../route.ts";
import { useTitle } from "../ui/useTitle.ts";
import { Recording } from "./recording.tsx";

/** What it costs: what a figure is of, the figure, what it means, and the page that says how it was measured. */
const FIGURES = [
  {
    label: "To compute an answer",
    figure: "1.2 to 2.6 ×",
    text:
      "the time that plain onnxruntime takes for the same model on the same processor: medians of eight models, on " +
      "one thread.",
    source: "performance",
  },
  {
    label: "To ask, while nobody lies",
    figure: "290 gas",
    text:
      "for each picture of a job with 1,000, which is one claim. A job with one picture takes about 300,000 gas, with " +
      "its answer delivered to your contract.",
    source: "gas",
  },
  {
    label: "To prove a lie",
    figure: "978,656 gas",
    text:
      "for the whole dispute, in at most 11 transactions of both sides: the median for lies in 12 steps of a model " +
      "that reads text. Whoever lied loses the collateral.",
    source: "gas",
  },
];

const DOORS = [
  {
    title: "You have a model",
    text: "See whether it can be served, what it costs, and serve it on a market on your own machine.",
    link: "Quickstart",
    page: "quickstart",
  },
  {
    title: "You write a contract, a page or a script",
    text: "Ask a model from Solidity or TypeScript, and use its answer as a fact.",
    link: "The SDK",
    page: "sdk",
  },
  {
    title: "You have a machine",
    text: "Earn fees as a worker, or guard a market as a watcher.",
    link: "Operating",
    page: "operating",
  },
];

/** The first screen: what this is, why it can be trusted, and where to go. */
export function StartPage() {
  useTitle("Answers of models that you can be sure of");
  return (
    <div class="stack landing">
      <section class="hero">
        <div class="stack">
          <h1>Buy a model’s answer from a stranger, and be sure of every bit of it.</h1>
          <p class="lead">
            With Refute, a worker computes your ONNX model off chain and puts up collateral. Anyone may compute it
            again. Where two disagree, an Ethereum contract recomputes <strong>one single number</strong>, and whoever
            was wrong pays.
          </p>
          <p class="soft">
            You rely on two things: on Ethereum, and on at least one honest watcher, who can be you, who computes the
            answer again in time. Exact arithmetic defines every result, so it is the same on every machine.
          </p>
          <div class="row">
            <a class="button main" href={routeHash(["playground", "digit"])}>
              Be the cheat
            </a>
            <a class="button" href={routeHash(["explorer"])}>
              Open a market
            </a>
          </div>
          <p class="soft small">
            “Be the cheat” needs nothing: draw a digit, change one number of the computation, and see how it is found.
          </p>
        </div>
        <Recording />
      </section>
      <section class="columns figures" aria-label="What it costs">
        {FIGURES.map(({ label, figure, text, source }) => (
          <p key={figure}>
            <span class="figure-label">{label}</span>
            <strong class="figure">{figure}</strong>
            <span class="soft">{text} </span>
            <a href={routeHash(["docs", source])}>How it was measured</a>
          </p>
        ))}
      </section>
      <section class="columns" aria-label="Where to go">
        {DOORS.map(({ title, text, link, page }) => (
          <div key={page} class="card stack-tight">
            <h2>{title}</h2>
            <p class="soft">{text}</p>
            <p>
              <a href={routeHash(["docs", page])}>{link}</a>
            </p>
          </div>
        ))}
      </section>
      <p class="soft small">
        Free software, MIT. {REPOSITORY === "" ? "" : <a href={REPOSITORY}>The repository</a>}
        {REPOSITORY === "" ? "" : " · "}
        <a href={routeHash(["docs", "overview"])}>What Refute is, and what it is not</a> ·{" "}
        <a href={routeHash(["docs", "security"])}>What is trusted, with a test for every attack</a>
      </p>
    </div>
  );
}
