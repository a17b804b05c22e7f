// The places of visitors' connections: who holds which, and in which order they came. All of it takes the same time, however
// many there are.

import type { Socket } from 'node:net';

/** All places, as one of them sees them. */
export interface SlotOwner {
  /** Without a request under way, the idlest first. */
  readonly idle: SlotList;
  /** The place is used for visits to an account. */
  assign(slot: ConnectionSlot, accountId: string): void;
  /** So many bytes more wait. */
  hold(slot: ConnectionSlot, bytes: number): void;
  /** So many have gone on. */
  release(slot: ConnectionSlot, bytes: number): void;
  /** Sees that there are not too many, when a place is used. @returns false where it is this one that is too many. */
  keeps(slot: ConnectionSlot): boolean;
}

/** One connection's place. */
export class ConnectionSlot {
  readonly socket: Socket;
  accountId: string | undefined;
  isFree = false;
  /** Bytes that wait for the visitor, or to go on. */
  held = 0;
  /** Where it is in the lists that it is in. */
  readonly inIdle: Neighbours = {};
  readonly inAddress: Neighbours = {};
  readonly inAccount: Neighbours = {};
  readonly inBehind: Neighbours = {};
  readonly #limit: SlotOwner;

  constructor(limit: SlotOwner, socket: Socket) {
    this.#limit = limit;
    this.socket = socket;
  }

  /** Something begins, for an account. @returns false when there is no place for it, which has to end the connection. */
  use(accountId: string): boolean {
    if (this.isFree) return false;
    this.#limit.idle.remove(this);
    if (this.accountId !== accountId) {
      this.accountId = accountId;
      this.#limit.assign(this, accountId);
    }
    return this.#limit.keeps(this);
  }

  /** So many bytes more wait. */
  hold(bytes: number): void {
    this.#limit.hold(this, bytes);
  }

  /** So many have gone on, or all. */
  release(bytes = this.held): void {
    if (bytes > 0) this.#limit.release(this, bytes);
  }

  /** Nothing is under way any more. */
  rest(): void {
    if (!this.isFree) this.#limit.idle.add(this);
  }
}

interface Neighbours {
  list?: SlotList | undefined;
  before?: ConnectionSlot | undefined;
  after?: ConnectionSlot | undefined;
}

type ListName = 'inIdle' | 'inAddress' | 'inAccount' | 'inBehind';

/** Places in the order in which they came, each of which can leave at once. */
export class SlotList {
  first: ConnectionSlot | undefined;
  size = 0;
  #last: ConnectionSlot | undefined;
  /** Whose they are. */
  readonly holder: string;
  readonly #name: ListName;

  constructor(name: ListName, holder = '') {
    this.#name = name;
    this.holder = holder;
  }

  add(slot: ConnectionSlot): void {
    const own = slot[this.#name];
    if (own.list) return;
    own.list = this;
    own.before = this.#last;
    if (this.#last) this.#last[this.#name].after = slot;
    else this.first = slot;
    this.#last = slot;
    this.size++;
  }

  remove(slot: ConnectionSlot): void {
    const own = slot[this.#name];
    if (own.list !== this) return;
    if (own.before) own.before[this.#name].after = own.after;
    else this.first = own.after;
    if (own.after) own.after[this.#name].before = own.before;
    else this.#last = own.before;
    own.list = own.before = own.after = undefined;
    this.size--;
  }
}

/** Who holds places, by address or by account, and who holds more than a share. */
export class SlotHolders {
  readonly #name: 'inAddress' | 'inAccount';
  readonly #share: number;
  readonly #lists = new Map<string, SlotList>();
  /** A few at most: there is not room for more. */
  readonly #beyond = new Set<SlotList>();

  constructor(name: 'inAddress' | 'inAccount', share: number) {
    this.#name = name;
    this.#share = share;
  }

  add(slot: ConnectionSlot, holder: string): void {
    const list = this.#lists.get(holder) ?? new SlotList(this.#name, holder);
    if (list.size === 0) this.#lists.set(holder, list);
    list.add(slot);
    if (list.size > this.#share) this.#beyond.add(list);
  }

  remove(slot: ConnectionSlot): void {
    const { list } = slot[this.#name];
    if (!list) return;
    list.remove(slot);
    if (list.size <= this.#share) this.#beyond.delete(list);
    if (list.size === 0) this.#lists.delete(list.holder);
  }

  /** Whether anybody holds more than the share. */
  get hasBeyond(): boolean {
    return this.#beyond.size > 0;
  }

  /** The oldest place of somebody who holds more than the share. @param but whose places are left alone. */
  beyondShare(but: string | undefined): ConnectionSlot | undefined {
    for (const list of this.#beyond) if (list.holder !== but) return list.first;
    return undefined;
  }
}
