// Watching everything at once: one stream in place of one for each kind of object.

import { builder } from '../../builder/builder.ts';
import { ChangeAction, subscribableKinds } from '../../collections/collection.ts';
import { whileAllowed } from '../../collections/watching.ts';
import { ApiError } from '../../errors/errors.ts';
import { checkEach } from '../../errors/problems.ts';
import type { Route } from '../../route.ts';
import { changeFeed, type GatheredChange } from './change-feed.ts';

/** How delivery to an event destination is going; the id is the destination's. */
const DELIVERY = 'eventDelivery';
/** How far the certificate of a reserved domain has come; the id is the domain's. */
const CERTIFICATE = 'domainCertificate';

/** A capture of requests that was started, changed or ended; the id is its own. */
const CAPTURE = 'trafficCapture';

const ChangedObject = builder.objectRef<GatheredChange>('ChangedObject').implement({
  description: 'An object that changed. Ask for it by its id to see it as it is now.',
  fields: (t) => ({
    kind: t.exposeString('kind', {
      description:
        'What it is, as its look-up is called: `credential`. Of `eventDelivery`, which tells that delivery to an event ' +
        'destination goes on, the id is that of the destination; of `domainCertificate`, which tells how far a certificate ' +
        'has come, that of the reserved domain; of `trafficCapture`, that of the capture.',
    }),
    action: t.field({
      type: ChangeAction,
      description: 'What happened to it last.',
      resolve: ({ action }) => action,
    }),
    objectId: t.exposeID('id', {
      description:
        'Its id. It is "" where so many of the kind changed that they are not told one by one, or where changes may ' +
        'have been missed: whoever shows a list of them has to ask for it again.',
    }),
  }),
});

const ChangedObjects = builder.objectRef<GatheredChange[]>('ChangedObjects').implement({
  description: 'Objects that changed, told together.',
  fields: (t) => ({
    changes: t.field({
      type: [ChangedObject],
      description: 'Each object once, in the order of what happened to them last; at most 1,000.',
      resolve: (changes) => changes,
    }),
  }),
});

builder.subscriptionField('changes', (t) =>
  t.field({
    type: ChangedObjects,
    access: { kind: null },
    description:
      'Tells of changes of everything that your account has, in one stream. It begins with an empty list, as soon as ' +
      'nothing can be missed any more; after that it gathers for 250 ms, and tells of each object only what happened last. Over ' +
      'server-sent events each list has an id: a request with it in the header Last-Event-ID, within 5 minutes, is told what ' +
      'happened since, without the empty list. Where that is not known any more, the empty list comes: ask again for what you show.',
    args: {
      kinds: t.arg.stringList({
        description: 'Of which kinds to tell, as in `credential` or `httpsEdge`; of all when left out or empty.',
      }),
    },
    subscribe: (_, { kinds }, context) => {
      const { app, accountId } = context;
      const wanted = chosen(kinds ?? []);
      const { changeHistory } = app;
      const { client } = context;
      const { lastEventId } = client;
      const resumption = {
        missed: () => (lastEventId === undefined ? undefined : changeHistory.since(accountId, lastEventId)),
        told() {
          client.eventId = changeHistory.position(accountId);
        },
      };
      return whileAllowed(context, (signal) => changeFeed(app.changes, accountId, wanted, signal, { resumption }));
    },
    resolve: (changes) => changes,
  }),
);

/** @throws {ApiError} naming those that are none. */
function chosen(kinds: readonly string[]): ReadonlySet<string> {
  const known = [...subscribableKinds(), DELIVERY, CERTIFICATE, CAPTURE].sort();
  checkEach(kinds, (culprit) => {
    if (!known.includes(culprit))
      throw new ApiError('unknownChangeKind', { member: 'kinds', culprit, known: known.join(', ') });
  });
  return new Set(kinds.length === 0 ? known : kinds);
}

/** There is no REST path for it. */
export const routes: Route[] = [];
