// Which questions are answered, and from where.

import { isUnusual, parentOf } from './codec/name.ts';
import type { Query, Question } from './codec/query.ts';
import { CLASS_IN, RecordType } from './codec/records.ts';
import type { Reply } from './codec/response.ts';
import type { Lookups } from './lookups.ts';
import type { ServedZone, ZoneTable } from './zone.ts';
import { answerContent, answerOwn } from './zone-answer.ts';

const OPCODE_QUERY = 0;
/** The only version of EDNS that there is. */
const EDNS_VERSION = 0;

export class Answerer {
  readonly #zones: ZoneTable;
  readonly #lookups: Lookups;

  constructor(zones: ZoneTable, lookups: Lookups) {
    this.#zones = zones;
    this.#lookups = lookups;
  }

  /** @throws when the gateway cannot say what there is at the name. */
  async reply({ opcode, question, edns, isMalformed }: Query): Promise<Reply> {
    if (opcode !== OPCODE_QUERY) return { code: 'NOTIMP' };
    if (isMalformed || !question) return { code: 'FORMERR' };
    if (edns && edns.version > EDNS_VERSION) return { code: 'BADVERS' };
    const isTransfer = question.type === RecordType.AXFR || question.type === RecordType.IXFR;
    const zone = question.class === CLASS_IN && !isTransfer ? this.#zoneFor(question) : undefined;
    return zone ? this.#replyFrom(zone, question) : { code: 'REFUSED' };
  }

  /** Whether a zone below is signed is asked of the zone above (RFC 4035 section 3.1.4.1). */
  #zoneFor({ name, type }: Question): ServedZone | undefined {
    const isOfParent = type === RecordType.DS && this.#zones.ownName(name) === 'apex';
    return (isOfParent ? this.#zones.zoneOf(parentOf(name)) : undefined) ?? this.#zones.zoneOf(name);
  }

  async #replyFrom(zone: ServedZone, question: Question): Promise<Reply> {
    const { name } = question;
    const own = this.#zones.ownName(name);
    if (own === 'apex' || own === 'nameServer') return answerOwn(zone, own, question, this.#zones);
    if (isUnusual(name)) return answerContent(zone, { kind: 'none' }, question);
    const content = await this.#lookups.find(name);
    if (own && content.kind === 'none') return answerOwn(zone, own, question, this.#zones);
    return answerContent(zone, content, question);
  }
}
