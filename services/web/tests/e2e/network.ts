// A network between browser and server that tests can disturb.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Link {
  browser: Socket;
  server: Socket;
  /** The response carries events, and goes on. */
  streams: boolean;
}

const EVENT = /(?:^|\n)id: [^\n]*\n(?:[^\n]+\n)*\n/; // not a heartbeat, which has no id
const PART_OF_THE_NEXT = 20; // bytes

export class Network {
  /** Cuts each stream within the event after the first one. */
  cutting = false;
  cuts = 0;
  private links = new Set<Link>();
  private target: URL;
  private listener: Server;

  private constructor(target: URL, listener: Server) {
    this.target = target;
    this.listener = listener;
    listener.on('connection', (browser) => this.join(browser));
  }

  static async to(url: string): Promise<Network> {
    const listener = createServer();
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    return new Network(new URL(url), listener);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.listener.address() as AddressInfo).port}`;
  }

  /** Forgets all connections: streams hear nothing more, as after a sleep; new connections work. */
  sleep(): void {
    for (const link of this.links) {
      link.server.destroy();
      if (!link.streams) link.browser.destroy();
    }
    this.links.clear();
  }

  close(): void {
    for (const { browser, server } of this.links) for (const socket of [browser, server]) socket.destroy();
    this.listener.close();
  }

  private join(browser: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    const link: Link = { browser, server, streams: false };
    this.links.add(link);
    let sent = '';
    server.on('data', (data) => {
      if (!this.links.has(link)) return;
      const text = data.toString('latin1');
      if (/^HTTP\/1\.1 /.test(text)) {
        link.streams = /^content-type: text\/event-stream/im.test(text);
        sent = '';
      }
      sent += text;
      const event = this.cutting && link.streams ? EVENT.exec(sent) : null;
      if (!event) return browser.write(data);
      const end = event.index + event[0].length + PART_OF_THE_NEXT;
      browser.write(data.subarray(0, Math.max(0, data.length - (sent.length - end))));
      this.cuts += 1;
      this.leave(link);
    });
    browser.on('data', (data) => this.links.has(link) && server.write(data));
    server.on('end', () => this.links.has(link) && this.leave(link));
    browser.on('close', () => this.leave(link));
    for (const socket of [browser, server]) socket.on('error', () => this.links.has(link) && this.leave(link));
  }

  private leave(link: Link): void {
    this.links.delete(link);
    link.server.destroy();
    link.browser.end();
  }
}
