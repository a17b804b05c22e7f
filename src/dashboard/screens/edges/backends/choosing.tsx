// The page of a backend that is no tunnel group.

import { useLocation } from 'preact-iso/router';
import type { Operation } from '../../../data/client/operation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import {
  DeleteFailoverBackend,
  DeleteHttpResponseBackend,
  DeleteStaticBackend,
  DeleteWeightedBackend,
  FailoverBackend,
  type FailoverBackendQuery,
  HttpResponseBackend,
  type HttpResponseBackendQuery,
  StaticBackend,
  type StaticBackendQuery,
  WeightedBackend,
  type WeightedBackendQuery,
} from '../../../generated/operations.ts';
import { toast } from '../../../ui/feedback/toast.tsx';
import type { ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { DescriptionList } from '../../../ui/text/description-list.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { DetailPage, NotYet } from '../detail-page.tsx';
import { BACKEND_WORDS, type ChoosingKind, capitalized } from '../references/choosing-backends.ts';
import { FailoverForm } from './failover-form.tsx';
import { ResponseForm } from './response-form.tsx';
import { StaticForm } from './static-form.tsx';
import { WeightedForm } from './weighted-form.tsx';

type Result = WeightedBackendQuery | FailoverBackendQuery | HttpResponseBackendQuery | StaticBackendQuery;
type AnyBackend = NonNullable<Result['backend']>;

const QUERIES: Record<ChoosingKind, Operation<Result, { id: string }>> = {
  weightedBackend: WeightedBackend,
  failoverBackend: FailoverBackend,
  httpResponseBackend: HttpResponseBackend,
  staticBackend: StaticBackend,
};

const DELETIONS: Record<ChoosingKind, Operation<unknown, { id: string }>> = {
  weightedBackend: DeleteWeightedBackend,
  failoverBackend: DeleteFailoverBackend,
  httpResponseBackend: DeleteHttpResponseBackend,
  staticBackend: DeleteStaticBackend,
};

const LEADS: Record<ChoosingKind, string> = {
  weightedBackend: 'Traffic follows new weights at once.',
  failoverBackend: 'Traffic follows a new order at once.',
  httpResponseBackend: 'The next request gets the new response.',
  staticBackend: 'The next connection goes to the new address; those that are open stay.',
};

const LEADS_TO_OTHERS: readonly ChoosingKind[] = ['weightedBackend', 'failoverBackend'];

const crumbsOf = ({ plural, listPath }: { plural: string; listPath: string }) => [
  { title: capitalized(plural), href: listPath },
];

export function ChoosingBackendPage({ kind, id }: { kind: ChoosingKind; id: string }) {
  const { data, error, refetch } = useQuery(QUERIES[kind], { id }, { kinds: [kind] });
  const { route } = useLocation();
  const words = BACKEND_WORDS[kind];
  const crumbs = crumbsOf(words);
  const backend = data?.backend;
  if (!backend)
    return <NotYet title={capitalized(words.noun)} noun={words.noun} crumbs={crumbs} error={error} refetch={refetch} />;
  const { description, createdAt } = backend;
  return (
    <DetailPage
      title={description || id}
      crumbs={crumbs}
      noun={words.noun}
      id={id}
      remove={DELETIONS[kind]}
      consequence={`${LEADS_TO_OTHERS.includes(kind) ? 'The backends that it leads to stay. ' : ''}An edge, a route or a backend that sends traffic to it has to be changed first.`}
    >
      <DescriptionList
        items={[
          { name: 'Kind', value: words.noun },
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
          { name: 'Id', value: <code>{id}</code> },
        ]}
      />
      <Section title="Settings" lead={LEADS[kind]}>
        <ChangeForm
          key={id}
          backend={backend}
          onDone={() => toast(`The ${words.noun} is changed.`)}
          onCancel={() => route(words.listPath)}
        />
      </Section>
    </DetailPage>
  );
}

function ChangeForm({ backend, ...callers }: ObjectFormCallers & { backend: AnyBackend }) {
  switch (backend.__typename) {
    case 'WeightedBackend':
      return <WeightedForm backend={backend} {...callers} />;
    case 'FailoverBackend':
      return <FailoverForm backend={backend} {...callers} />;
    case 'HttpResponseBackend':
      return <ResponseForm backend={backend} {...callers} />;
    case 'StaticBackend':
      return <StaticForm backend={backend} {...callers} />;
  }
}

const CREATE_FORMS = {
  weightedBackend: WeightedForm,
  failoverBackend: FailoverForm,
  httpResponseBackend: ResponseForm,
  staticBackend: StaticForm,
};

const NewChoosingBackend = ({ kind }: { kind: ChoosingKind }) => {
  const { route } = useLocation();
  const words = BACKEND_WORDS[kind];
  const CreateForm = CREATE_FORMS[kind];
  return (
    <Page title={`New ${words.noun}`} crumbs={crumbsOf(words)} lead={words.purpose}>
      <CreateForm onDone={(id) => route(objectPath(kind, id))} onCancel={() => route(words.listPath)} />
    </Page>
  );
};

export const NewWeightedBackend = () => <NewChoosingBackend kind="weightedBackend" />;
export const NewFailoverBackend = () => <NewChoosingBackend kind="failoverBackend" />;
export const NewHttpResponse = () => <NewChoosingBackend kind="httpResponseBackend" />;
export const NewStaticBackend = () => <NewChoosingBackend kind="staticBackend" />;
