import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/descent.css";
import "./styles/playground.css";
import "./styles/landing.css";
import { App } from "./app.tsx";

render(<App />, document.getElementById("app")!);
