// What a zone answers for a name whose content is known.

import type { Question } from './codec/query.ts';
import { hostInfoRecord, RecordType, type ResourceRecord, textRecord } from './codec/records.ts';
import type { Reply } from './codec/response.ts';
import { addressRecords, type OwnName, type ServedZone, type ZoneTable } from './zone.ts';
import type { NameContent } from './zone-names.ts';

/** Values are of challenges: whoever asks again must see the new ones (a cached set failed the second challenge of a name). */
const TEXT_TTL = 0;
/** That a question for everything is answered with nothing does not change; seconds. */
const HOST_INFO_TTL = 3600;

/** The answer for a name that belongs to a zone itself. @param table knows the addresses of name servers in other zones. */
export function answerOwn(zone: ServedZone, kind: OwnName, question: Question, table: ZoneTable): Reply {
  if (kind === 'between') return answerWith(zone, question, []);
  const addresses = addressRecords(zone, question.name);
  if (kind === 'nameServer') return answerWith(zone, question, addresses);
  const reply = answerWith(zone, question, [zone.authority, ...zone.nameServers, ...addresses]);
  return question.type === RecordType.NS ? { ...reply, additional: glueOf(zone, table) } : reply;
}

/** The answer for any other name of a zone. */
export function answerContent(zone: ServedZone, content: NameContent, question: Question): Reply {
  const { name } = question;
  if (content.kind === 'none') return { code: 'NXDOMAIN', isAuthoritative: true, authority: [zone.authority] };
  const texts = Array.from(new Set(content.txt), (value) => textRecord(name, TEXT_TTL, value));
  return answerWith(zone, question, content.kind === 'text' ? texts : [...addressRecords(zone, name), ...texts]);
}

/** Those of the records at a name that are asked for; without any, how long that may be believed (RFC 2308). */
function answerWith(zone: ServedZone, { name, type }: Question, records: readonly ResourceRecord[]): Reply {
  const answers =
    type === RecordType.ANY ? [hostInfoRecord(name, HOST_INFO_TTL)] : records.filter((record) => record.type === type);
  const authority = answers.length === 0 ? [zone.authority] : [];
  return { code: 'NOERROR', isAuthoritative: true, answers, authority };
}

/** The addresses of the zone's name servers, so that nobody has to ask for them. */
function glueOf(zone: ServedZone, table: ZoneTable): ResourceRecord[] {
  return zone.nameServers.flatMap(({ data: [server] }) => {
    const home = table.zoneOf(server as string);
    return home ? addressRecords(home, server as string) : [];
  });
}
