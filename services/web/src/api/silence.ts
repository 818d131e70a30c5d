// A connection that died while the machine slept, or in a network that forgot it, neither ends nor fails: it is silent.

const SILENT_MILLISECONDS = 45_000; // the server says something every 15 seconds
const LOOK_MILLISECONDS = 5_000;

/** The same bytes, until none have come for too long; then the stream ends, and its reader asks for the rest. */
export function untilSilent(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let heard = Date.now(); // of the clock on the wall, which goes on while the machine sleeps
  let look: ReturnType<typeof setInterval>;
  return new ReadableStream({
    start() {
      look = setInterval(() => {
        if (Date.now() - heard > SILENT_MILLISECONDS) void reader.cancel();
      }, LOOK_MILLISECONDS);
    },
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        heard = Date.now();
        if (!done) return controller.enqueue(value);
        clearInterval(look);
        controller.close();
      } catch (error) {
        clearInterval(look);
        throw error;
      }
    },
    async cancel(reason) {
      clearInterval(look);
      await reader.cancel(reason);
    },
  });
}
