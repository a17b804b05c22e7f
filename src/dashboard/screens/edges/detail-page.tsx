// The layout of the page of one object, with a dialog that deletes it.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Operation } from '../../data/client/operation.ts';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { LoadingPage } from '../../ui/layout/loading-page.tsx';
import { type Breadcrumb, Page } from '../../ui/layout/page.tsx';

interface DetailPageProps {
  title: string;
  badge?: ComponentChildren;
  crumbs: readonly Breadcrumb[];
  /** The name of its kind within a sentence: `IP policy`. */
  noun: string;
  /** The mutation that deletes it. Afterwards the page goes to the last breadcrumb. */
  remove: Operation<unknown, { id: string; edgeId: string }> | Operation<unknown, { id: string }>;
  id: string;
  /** More variables of that mutation. */
  extraVariables?: { edgeId: string };
  /** What the deletion does to other objects. */
  consequence: ComponentChildren;
  children: ComponentChildren;
}

export function DetailPage({
  title,
  badge,
  crumbs,
  noun,
  remove,
  id,
  extraVariables,
  consequence,
  children,
}: DetailPageProps) {
  const [isConfirming, setConfirming] = useState(false);
  // Only routes are identified by their edge as well: `extraVariables` has what the mutation takes besides the id.
  const removing = useMutation(remove as Operation<unknown, { id: string }>);
  const { route } = useLocation();
  return (
    <Page
      title={title}
      badge={badge}
      crumbs={crumbs}
      actions={
        <Button variant="danger" onClick={() => setConfirming(true)}>
          Delete
        </Button>
      }
    >
      {children}
      <AuditHistory id={id} />
      {isConfirming && (
        <ConfirmDialog
          title={`Delete this ${noun}?`}
          typeToConfirm={title}
          confirmLabel={`Delete the ${noun}`}
          error={removing.error}
          isBusy={removing.isBusy}
          onConfirm={async () => {
            if ((await removing.mutate({ id, ...extraVariables })) === undefined) return;
            toast(`The ${noun} is deleted.`);
            route(crumbs.at(-1)?.href ?? '/');
          }}
          onClose={() => {
            removing.reset();
            setConfirming(false);
          }}
        >
          <p>{consequence}</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

/** The page of an object that is loading, failed to load, or does not exist. */
export const NotYet = LoadingPage;
