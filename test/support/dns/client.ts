// A client of name servers that sends what it is told, byte for byte, and reads answers with a foreign decoder.

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, isIPv6, type Socket, type TcpNetConnectOpts } from 'node:net';
import dnsPacket from 'dns-packet';

export interface QueryOptions {
  id?: number;
  flags?: number;
  opcode?: number;
  class?: number;
  /** The EDNS record; without it there is none. */
  edns?: { udpBytes?: number; version?: number; isDnssecOk?: boolean; options?: Buffer };
  /** Behind everything else. */
  tail?: Buffer;
}

/** Numbers of types that tests ask for. */
export const types = {
  A: 1,
  NS: 2,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  DS: 43,
  HTTPS: 65,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  CAA: 257,
} as const;
export type TypeName = keyof typeof types;

/** A name in a message. @param name labels joined by dots; an array where labels have dots themselves; each character is a byte. */
export function nameBytes(name: string | readonly string[]): Buffer {
  const labels = typeof name === 'string' ? name.split('.').filter((label) => label !== '') : name;
  const parts = labels.map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  return Buffer.concat([...parts, Buffer.of(0)]);
}

export function query(name: string | readonly string[], type: TypeName | number, options: QueryOptions = {}): Buffer {
  const { id = 4711, flags = 0, opcode = 0, class: dnsClass = 1, edns, tail = Buffer.alloc(0) } = options;
  const header = words(id, flags | (opcode << 11), 1, 0, 0, edns ? 1 : 0);
  const question = Buffer.concat([nameBytes(name), words(typeof type === 'number' ? type : types[type], dnsClass)]);
  return Buffer.concat([header, question, ...(edns ? [optRecord(edns)] : []), tail]);
}

export function optRecord({
  udpBytes = 1232,
  version = 0,
  isDnssecOk,
  options,
}: NonNullable<QueryOptions['edns']>): Buffer {
  const data = options ?? Buffer.alloc(0);
  return Buffer.concat([Buffer.of(0), words(41, udpBytes, version, isDnssecOk ? 0x8000 : 0, data.length), data]);
}

/** Numbers of 16 bits. */
export function words(...values: number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [(value >> 8) & 0xff, value & 0xff]));
}

export interface Answer {
  packet: Buffer;
  code: number;
  opcode: number;
  isAuthoritative: boolean;
  isTruncated: boolean;
  /** The question as it came back, byte for byte. */
  question: Buffer;
  /** `name TTL type value`, in each section. */
  answers: string[];
  authority: string[];
  additional: string[];
  edns: { udpBytes: number; version: number; isDnssecOk: boolean } | undefined;
}

/** @throws when it is no message, also when something is behind its end. */
export function readAnswer(packet: Buffer): Answer {
  const decoded = dnsPacket.decode(packet);
  if (dnsPacket.decode.bytes !== packet.length) throw new Error(`only ${dnsPacket.decode.bytes} bytes are a message`);
  const flags = packet.readUInt16BE(2);
  const opt = decoded.additionals?.find((record) => record.type === 'OPT');
  const { answers = [], authorities = [], additionals = [] } = decoded;
  return {
    packet,
    code: (flags & 0xf) | (opt ? opt.extendedRcode << 4 : 0),
    opcode: (flags >> 11) & 0xf,
    isAuthoritative: (flags & 0x0400) !== 0,
    isTruncated: (flags & 0x0200) !== 0,
    question: questionOf(packet),
    answers: answers.map(textOf),
    authority: authorities.map(textOf),
    additional: additionals.filter(({ type }) => type !== 'OPT').map(textOf),
    edns: opt && { udpBytes: opt.udpPayloadSize, version: opt.ednsVersion, isDnssecOk: opt.flag_do },
  };
}

/** The question of a message, with its type and class. */
export function questionOf(packet: Buffer): Buffer {
  if (packet.readUInt16BE(4) !== 1) return Buffer.alloc(0);
  let at = 12;
  while ((packet[at] as number) > 0) at += 1 + (packet[at] as number);
  return packet.subarray(12, at + 5);
}

function textOf(record: dnsPacket.Answer): string {
  if (record.type === 'OPT') return 'OPT';
  const data: unknown = record.data;
  return `${record.name} ${record.ttl} ${record.type} ${Array.isArray(data) ? data.join('|') : typeof data === 'string' ? data : JSON.stringify(data)}`;
}

/** Sends and receives datagrams. */
export class UdpClient {
  readonly #socket: UdpSocket;
  readonly #port: number;
  readonly #host: string;
  readonly #received: Buffer[] = [];
  #wake: () => void = () => {};

  /** @param socket where it sends from, if not from anywhere. */
  constructor(port: number, host = '127.0.0.1', socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')) {
    this.#port = port;
    this.#host = host;
    this.#socket = socket;
    this.#socket.on('message', (packet) => {
      this.#received.push(packet);
      this.#wake();
    });
  }

  send(packet: Buffer): void {
    this.#socket.send(packet, this.#port, this.#host);
  }

  /** The next datagram that comes. */
  async next(): Promise<Buffer> {
    for (;;) {
      const packet = this.#received.shift();
      if (packet) return packet;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async ask(packet: Buffer): Promise<Answer> {
    this.send(packet);
    return readAnswer(await this.next());
  }

  close(): void {
    this.#socket.close();
  }
}

/** A connection, with the length before each message. */
export class TcpClient {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  #received = Buffer.alloc(0);
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.socket = socket.on('error', () => {});
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    for (const event of ['readable', 'end', 'close']) socket.on(event, () => this.#wake());
  }

  /** @param options more of them than the address, as those of Node. */
  static async connect(port: number, host = '127.0.0.1', options: Partial<TcpNetConnectOpts> = {}): Promise<TcpClient> {
    const socket = connect({ port, host, noDelay: true, ...options });
    await once(socket, 'connect');
    return new TcpClient(socket);
  }

  send(...packets: Buffer[]): void {
    this.socket.write(Buffer.concat(packets.map(framed)));
  }

  /** The next message. @throws when the connection ends before it. */
  async next(): Promise<Buffer> {
    for (;;) {
      const length = this.#received.length < 2 ? undefined : this.#received.readUInt16BE(0);
      if (length !== undefined && this.#received.length >= 2 + length) {
        const packet = this.#received.subarray(2, 2 + length);
        this.#received = this.#received.subarray(2 + length);
        return packet;
      }
      const chunk: Buffer | null = this.socket.read();
      if (chunk) this.#received = Buffer.concat([this.#received, chunk]);
      else await this.#readable();
    }
  }

  async ask(packet: Buffer): Promise<Answer> {
    this.send(packet);
    return readAnswer(await this.next());
  }

  /** Reads whatever comes from now on, and forgets it. */
  discard(): void {
    this.socket.removeAllListeners('readable').resume();
  }

  close(): void {
    this.socket.destroy();
  }

  async #readable(): Promise<void> {
    if (this.socket.readableEnded || this.socket.destroyed) throw new Error('the connection has ended');
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}

export const framed = (packet: Buffer) => Buffer.concat([words(packet.length), packet]);
