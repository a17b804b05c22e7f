import { useQuery } from '../../data/hooks/use-query.ts';
import { pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { AuditEntryDetails } from '../../generated/operations.ts';
import { EntryDifference } from '../../ui/history/entry-difference.tsx';
import { Actor, actionWords, kindWords, ObjectLink, objectTitle } from '../../ui/history/entry-words.tsx';
import { LoadingPage } from '../../ui/layout/loading-page.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

const crumbs = [{ title: 'Audit', href: pathTo('audit') }];

/** One entry: who did what to what, from where, and what it changed. */
export function AuditEntryPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(AuditEntryDetails, { id });
  const entry = data?.auditEntry;
  if (!entry) return <LoadingPage title="Entry" noun="entry" crumbs={crumbs} error={error} refetch={refetch} />;
  const { objectId, credentialId, ip, userAgent, operationId } = entry;
  const ofObject = objectId ? `${pathTo('audit')}?object=${encodeURIComponent(objectId)}` : undefined;
  return (
    <Page title={`${objectTitle(entry)}: ${actionWords(entry.action)}`} crumbs={crumbs}>
      <DescriptionList
        items={[
          { name: 'What', value: `${kindWords(entry.kind)}: ${actionWords(entry.action)}` },
          { name: 'Object', value: <ObjectLink entry={entry} /> },
          { name: 'Done by', value: <Actor entry={entry} /> },
          { name: 'When', value: <RelativeTime at={entry.createdAt} /> },
          ip !== null && { name: 'From', value: <code>{ip}</code> },
          userAgent !== null && { name: 'Client', value: userAgent },
          credentialId !== null && { name: 'Key or session', value: <code>{credentialId}</code> },
          operationId !== null && {
            name: 'Operation',
            value: <CopyButton text={operationId} label="the operation id" />,
          },
          ofObject !== undefined && { name: 'More', value: <a href={ofObject}>All that was done to it</a> },
        ]}
      />
      <Section title="What it changed">
        <EntryDifference {...entry} />
      </Section>
    </Page>
  );
}
