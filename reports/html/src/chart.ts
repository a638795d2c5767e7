// Figures by Apache ECharts: only the parts that are used, drawn as SVG so that they print sharply.
import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import {
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import { type EChartsCoreOption, type EChartsType, init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

import { element } from "./dom";
import { color, onThemeChange } from "./theme";

use([
  BarChart,
  CustomChart,
  LineChart,
  ScatterChart,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  SVGRenderer,
]);

export type Option = EChartsCoreOption;

// Paper is narrower than the screen: a figure with a view box is scaled to it (print.css).
window.addEventListener("beforeprint", () => {
  for (const svg of document.querySelectorAll(".chart svg")) {
    svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
  }
});
window.addEventListener("afterprint", () => {
  for (const svg of document.querySelectorAll(".chart svg")) svg.removeAttribute("viewBox");
});

/** Narrower figures leave out parts of their labels. */
export const isNarrow = (figure: HTMLElement) => figure.clientWidth < 600;

/** A figure that redraws itself when the window or the theme changes. */
export class Chart {
  readonly element: HTMLElement;
  private readonly chart: EChartsType;

  /** `option` is asked again after each change of the theme; colours are taken then. */
  constructor(
    parent: HTMLElement,
    private option: () => Option,
    height: number,
  ) {
    this.element = element("div", { class: "chart", role: "img", style: `height:${height}px` });
    parent.append(this.element);
    this.chart = init(this.element, null, { renderer: "svg" });
    onThemeChange(() => this.draw());
    new ResizeObserver(() => {
      if (this.refitted()) this.draw();
    }).observe(this.element);
  }

  /** Draws anew, for instance because the data changed. `text` says in words what is seen. */
  update(option: () => Option, height: number, text: string) {
    this.option = option;
    this.element.style.height = `${height}px`;
    this.element.setAttribute("aria-label", text);
    this.refitted();
    this.draw();
  }

  on(event: string, handler: (what: { dataIndex: number; data: unknown }) => void) {
    this.chart.on(event, handler as (what: unknown) => void);
  }

  /** Shows the part from `start` to `end` percent of the zoomed axis. */
  zoom(start: number, end: number) {
    this.chart.dispatchAction({ type: "dataZoom", start, end });
  }

  /** Takes the size of the element. Returns whether that is another one, so that all is to be drawn. */
  private refitted(): boolean {
    const { clientWidth, clientHeight } = this.element;
    if (this.chart.getWidth() === clientWidth && this.chart.getHeight() === clientHeight) return false;
    this.chart.clear(); // or `resize` draws what is drawn anew just after
    this.chart.resize();
    return true;
  }

  private draw() {
    this.chart.setOption({ ...common(), ...this.option() }, { notMerge: true });
  }
}

function common(): Option {
  return {
    animation: false,
    // ECharts measures texts on a canvas, which does not know what "inherit" is.
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: color("text"), fontSize: 12 },
    backgroundColor: "transparent",
  };
}

export const axisStyle = () => ({
  axisLine: { lineStyle: { color: color("line") } },
  axisTick: { lineStyle: { color: color("line") } },
  axisLabel: { color: color("soft") },
  nameTextStyle: { color: color("soft") },
  splitLine: { lineStyle: { color: color("grid") } },
});

export const tooltipStyle = () => ({
  backgroundColor: color("panel"),
  borderColor: color("line"),
  textStyle: { color: color("text"), fontSize: 12 },
  confine: true,
  extraCssText: "max-width:34rem;white-space:normal;box-shadow:0 2px 8px rgb(0 0 0 / .2)",
});

/** The slider by which a figure is zoomed or scrolled. */
export const sliderStyle = () => ({
  type: "slider",
  showDataShadow: false,
  brushSelect: false,
  borderColor: color("line"),
  fillerColor: color("hover"),
  handleStyle: { color: color("panel"), borderColor: color("soft") },
  moveHandleStyle: { color: color("line") },
  textStyle: { color: color("soft") },
});

/** The scroll bar of a figure that shows so many of its rows at a time. */
export const rowSlider = (rows: number) => [
  {
    ...sliderStyle(),
    yAxisIndex: 0,
    startValue: 0,
    endValue: rows - 1,
    right: 4,
    width: 18,
    showDetail: false,
  },
  { type: "inside", yAxisIndex: 0, zoomOnMouseWheel: false, moveOnMouseWheel: "shift" },
];

/** Text for ECharts' tooltips, which are HTML. */
export const safe = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
export const lines = (...texts: string[]) => texts.map(safe).join("<br>");
