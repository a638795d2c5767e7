// A page in headless Chromium that must not complain, nor ask for anything beyond its own file.

/**
 * Opens a report. `complaints` collects what the console and the network say. `busySeconds` gives the time that the
 * page's thread has worked since; unlike time on the clock, it does not grow where other programs run beside it.
 */
export async function opened(browser, file, options = {}) {
  const page = await browser.newPage({
    viewport: { width: 1200, height: 900 },
    reducedMotion: "reduce",
    ...options,
  });
  page.setDefaultTimeout(20_000);
  const complaints = [];
  page.on(
    "console",
    (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()),
  );
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on(
    "request",
    (request) => request.url().startsWith("file:") || complaints.push(`asked for ${request.url()}`),
  );
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busySeconds = async () =>
    (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
  await page.goto(`file://${file}`);
  await page.waitForSelector("html[data-ready]");
  return { page, complaints, busySeconds };
}
