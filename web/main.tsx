import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import { App } from "./app.tsx";

render(<App />, document.getElementById("app")!);
