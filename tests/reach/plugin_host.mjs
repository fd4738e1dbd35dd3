// Stands in for OpenCode's terminal: loads the plugin, gives it what that gives plugins, and does what the test says by stdin, a
// JSON object a line. What the plugin has done by the client is printed.
import { createInterface } from "node:readline"

const [file, options] = [process.argv[2], JSON.parse(process.argv[3])]
const handlers = new Map()
const disposals = []
const print = (said) => process.stdout.write(`${JSON.stringify(said)}\n`)
const answers = { error: undefined }

const does = (name) => async (given) => {
  print({ does: name, ...given })
  if (answers.throws) throw new Error("no")
  return { data: true, error: answers.error }
}

const api = {
  app: { version: "1.18.33" },
  route: { current: { name: "home" } },
  state: {
    ready: true,
    config: {},
    path: { directory: process.cwd() },
    session: {
      get: () => ({ agent: "build" }),
      messages: () => api.said,
    },
  },
  said: [],
  plugins: { list: () => [{ id: "trunkline", source: "file" }, { id: "footer", source: "internal" }, ...api.others] },
  others: [],
  client: {
    permission: { reply: does("permission.reply") },
    question: { reply: does("question.reply"), reject: does("question.reject") },
    session: { promptAsync: does("session.promptAsync"), abort: does("session.abort") },
  },
  event: {
    on(type, handler) {
      handlers.set(type, [...(handlers.get(type) ?? []), handler])
      return () => {}
    },
  },
  lifecycle: { onDispose: (dispose) => disposals.push(dispose) },
}

const began = performance.now()
const plugin = (await import(file)).default
await plugin.tui(api, options)
print({ began: plugin.id, ms: performance.now() - began, handlers: handlers.size })

for await (const line of createInterface({ input: process.stdin })) {
  const told = JSON.parse(line)
  if (told.event !== undefined) {
    const begins = performance.now()
    for (let number = 0; number < (told.times ?? 1); number++)
      for (const handler of handlers.get(told.event) ?? []) handler({ type: told.event, properties: told.properties })
    print({ handled: told.event, ms: performance.now() - begins })
  }
  if (told.shows !== undefined) api.route.current = { name: "session", params: { sessionID: told.shows } }
  Object.assign(api, told.set)
  Object.assign(answers, told.answers)
  if (told.set ?? told.answers) print({ is_set: true })
  if (told.dispose) for (const dispose of disposals) dispose()
  if (told.ends) process.exit(0)
}
