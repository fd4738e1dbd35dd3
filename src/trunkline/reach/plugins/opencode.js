/* Trunkline's plugin for OpenCode: what happens in this terminal is told to the hub of the same user, and what people answer or
 * send there is done here, by the program's own client. It is named in OpenCode's tui.json (`trunkline hooks install opencode`).
 *
 * Rule 1: the terminal never waits for it. Nothing is awaited in a handler, the hub has 300 ms to take a connection, what it does
 * not read in time is dropped with the connection, and whatever fails in here stays in here.
 * Rule 2: it talks to a hub of its own user only: the socket and its folder are that user's, and nobody else may write there.
 * Rule 3: what waits for an answer is kept, and told again to a hub that comes back. All else is news or nothing.
 * Rule 4: below a hub it does nothing: who is there asks the hub already.
 */

import { closeSync, constants, lstatSync, openSync } from "node:fs"
import { connect } from "node:net"
import { basename, dirname } from "node:path"

const ID = "trunkline"
const VERSION = "1"
const CONNECT_MS = 300
const RETRY_MS = 3_000
/** Bytes that the hub has not read yet: words of an answer are left out above the first, and the hub is hung up on above the second. */
const UNREAD_MUCH = 256 << 10
const UNREAD_MOST = 4 << 20
const ORDER_MOST = 8 << 20
const ASKS_MOST = 64
const LOOK_MS = 1_000
/** A socket's address is at most 104 or 108 bytes long. */
const PATH_MOST = 100

/** Texts of which the beginning was told: what is told of a part from its middle on could not be known again. */
const TEXTS_MOST = 64

/** What words may not end in: half a character. */
const HALF = /[\ud800-\udbff]$/

const ASKED = ["permission.asked", "question.asked"]
const ANSWERED = ["permission.replied", "question.replied", "question.rejected"]
const TOLD = ["session.status", "session.idle"]

class Line {
  constructor(agent, path, onOpen, onOrder) {
    Object.assign(this, { agent, path, onOpen, onOrder, link: undefined, isOpen: false, triedAt: 0, rest: [] })
  }

  open() {
    const now = Date.now()
    if (this.link !== undefined || now - this.triedAt < RETRY_MS) return
    this.triedAt = now
    if (!isOurs(this.path)) return
    const link = connected(this.path)
    this.link = link
    const late = setTimeout(() => link.destroy(), CONNECT_MS)
    link.on("connect", () => {
      clearTimeout(late)
      this.isOpen = true
      link.unref()
      link.write(`trunkline ${VERSION} ${this.agent} line ${process.pid} 0\n`)
      this.onOpen()
    })
    link.on("data", (data) => this.#read(data))
    link.on("error", () => {})
    link.on("close", () => {
      clearTimeout(late)
      if (this.link === link) this.#forget()
    })
  }

  say(type, properties) {
    if (!this.isOpen) return this.open()
    if (this.link.writableLength > UNREAD_MOST) return this.close()
    this.link.write(`${JSON.stringify({ type, properties })}\n`)
  }

  get isBehind() {
    return this.isOpen && this.link.writableLength > UNREAD_MUCH
  }

  close() {
    const link = this.link
    this.#forget()
    link?.destroy()
  }

  #forget() {
    Object.assign(this, { link: undefined, isOpen: false, rest: [] })
  }

  #read(data) {
    let begin = 0
    for (let end; (end = data.indexOf(10, begin)) >= 0; begin = end + 1) {
      const line = Buffer.concat([...this.rest, data.subarray(begin, end)])
      this.rest = []
      const order = readOrder(line)
      if (order !== undefined) this.onOrder(order)
    }
    if (begin < data.length) this.rest.push(data.subarray(begin))
    if (this.rest.reduce((sum, piece) => sum + piece.length, 0) > ORDER_MOST) this.close()
  }
}

function isOurs(path) {
  try {
    const [socket, folder, user] = [lstatSync(path), lstatSync(dirname(path)), process.getuid()]
    return socket.isSocket() && socket.uid === user && folder.uid === user && !(folder.mode & 0o022)
  } catch {
    return false
  }
}

/** A connection; a path that is too long for an address is reached by its folder. */
function connected(path) {
  if (Buffer.byteLength(path) <= PATH_MOST) return connect(path)
  const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  return connect(`/proc/self/fd/${folder}/${basename(path)}`).on("close", () => closeSync(folder))
}

function readOrder(line) {
  try {
    const order = JSON.parse(line.toString())
    return order !== null && typeof order === "object" ? order : undefined
  } catch {
    return undefined
  }
}

/** What the hub may have done here. Each is one call of the program's own client; nothing is evaluated, nothing else is called. */
const ORDERS = {
  reply: ({ client }, { requestID, reply, message }) =>
    reply === "once" || reply === "reject" ? client.permission.reply({ requestID, reply, message }) : undefined,
  answer: ({ client }, { requestID, answers }) => client.question.reply({ requestID, answers }),
  decline: ({ client }, { requestID }) => client.question.reject({ requestID }),
  prompt: (api, { sessionID, parts }) => api.client.session.promptAsync({ sessionID, parts, ...asBefore(api, sessionID) }),
  abort: ({ client }, { sessionID }) => client.session.abort({ sessionID }),
}

/** A prompt goes to the agent and the model that the session was prompted with last: a plan stays a plan. */
function asBefore(api, sessionID) {
  const last = api.state.session.messages(sessionID).findLast((message) => message.role === "user")
  if (last === undefined) return { agent: api.state.session.get(sessionID)?.agent }
  return { agent: last.agent, model: last.model, variant: last.model?.variant }
}

async function obey(api, line, order) {
  if (!Object.hasOwn(ORDERS, order.do)) return
  let failed
  try {
    const done = await ORDERS[order.do](api, order)
    failed = done?.error === undefined ? undefined : JSON.stringify(done.error)
  } catch (error) {
    failed = String(error)
  }
  line.say("trunkline.done", { id: order.id, ok: failed === undefined, why: failed?.slice(0, 500) })
}

/** Asks that wait, oldest first. */
class Asks {
  #open = new Map()

  asked(event) {
    if (this.#open.size >= ASKS_MOST) this.#open.delete(this.#open.keys().next().value)
    this.#open.set(event.properties.id, event)
  }

  answered(requestID) {
    this.#open.delete(requestID)
  }

  all() {
    return [...this.#open.values()]
  }
}

/** Texts that are being written, as far as they were told. Half a character is told with its other half. */
class Texts {
  #told = new Map()

  forget() {
    this.#told.clear()
  }

  drop(id) {
    this.#told.delete(id)
  }

  began(id, thinking) {
    if (this.#told.size >= TEXTS_MOST) this.#told.delete(this.#told.keys().next().value)
    this.#told.set(id, { length: 0, half: "", thinking })
  }

  /** What is to be told of more words; nothing where the beginning was not told. */
  more(id, words) {
    const told = this.#told.get(id)
    if (told === undefined) return undefined
    const all = told.half + words
    const text = all.replace(HALF, "")
    told.half = all.slice(text.length)
    told.length += text.length
    return text || undefined
  }

  thinks(id) {
    return this.#told.get(id)?.thinking
  }

  /** Whether some of a text was told that is whole now. */
  ended(id) {
    const told = this.#told.get(id)
    this.#told.delete(id)
    return told !== undefined && told.length > 0
  }
}

/** Whether nobody else is here who might answer: no plugin but this one and the program's own. */
function isAlone(api) {
  try {
    const others = api.plugins.list().filter((each) => each.source !== "internal" && each.id !== ID)
    return api.state.ready && others.length === 0 && (api.state.config.plugin ?? []).length === 0
  } catch {
    return false
  }
}

function start(api, options) {
  const asks = new Asks()
  const texts = new Texts()
  let shown
  const line = new Line(options.agent, options.socket, hello, (order) => void obey(api, line, order))

  function hello() {
    texts.forget()
    if (shown !== undefined) line.say("trunkline.shows", { sessionID: shown })
    for (const event of asks.all()) ask(event)
  }

  const ask = ({ type, properties }) => line.say(type, { ...properties, alone: isAlone(api) })

  /** Which session is on the screen: that changes without an event. A hub that came back is found by the way. */
  function look() {
    const route = api.route.current
    const sessionID = route.name === "session" ? route.params?.sessionID : undefined
    const isNew = sessionID !== shown
    shown = sessionID
    if (isNew && line.isOpen) line.say("trunkline.shows", { sessionID })
    line.open()
  }

  const on = (type, tell) => api.event.on(type, quietly(tell))
  for (const type of ASKED) on(type, (event) => {
    asks.asked(event)
    ask(event)
  })
  for (const type of ANSWERED) on(type, (event) => {
    asks.answered(event.properties.requestID)
    line.say(type, event.properties)
  })
  for (const type of TOLD) on(type, (event) => line.say(type, event.properties))

  const kinds = { text: false, reasoning: true }
  on("message.part.updated", ({ properties: { part } }) => {
    const thinking = kinds[part.type]
    if (thinking === undefined || !line.isOpen) return
    if (part.time?.end === undefined) {
      if (part.text === "") texts.began(part.id, thinking)
      return
    }
    if (texts.ended(part.id)) line.say("trunkline.whole", { sessionID: part.sessionID, text: part.text })
  })
  on("message.part.delta", ({ properties: { sessionID, partID, field, delta } }) => {
    if (field !== "text" || !line.isOpen) return
    if (line.isBehind) return texts.drop(partID)
    const text = texts.more(partID, delta)
    if (text !== undefined) line.say("trunkline.words", { sessionID, partID, text, thinking: texts.thinks(partID) })
  })
  const looking = setInterval(quietly(look), LOOK_MS)
  looking.unref?.()
  api.lifecycle.onDispose(() => {
    clearInterval(looking)
    line.close()
  })
  look()
}

const quietly = (does) => (...given) => {
  try {
    does(...given)
  } catch {
    // Rule 1: it is no concern of whoever sits there.
  }
}

export default {
  id: ID,
  tui: async (api, options) => {
    if (process.env.AGENT_LINE_MARKER === undefined && options?.socket && options?.agent) quietly(start)(api, options)
  },
}
