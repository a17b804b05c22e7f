// The page of a secret.

import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { DeleteSecret, Secret } from '../../../generated/operations.ts';
import { toast } from '../../../ui/feedback/toast.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { DetailPage, NotYet } from '../detail-page.tsx';
import { listPaths } from '../navigation.ts';
import { SecretForm } from './secret-form.tsx';

export function SecretPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Secret, { id }, { kinds: ['secret', 'vault'] });
  const { route } = useLocation();
  const secret = data?.secret;
  const crumbs = [{ title: 'Vaults', href: listPaths.vaults }];
  if (!secret) return <NotYet title="Secret" crumbs={crumbs} error={error} refetch={refetch} />;
  const vault = objectPath('vault', secret.vault.id);
  return (
    <DetailPage
      title={secret.name}
      crumbs={[...crumbs, { title: secret.vaultName, href: vault }]}
      noun="secret"
      id={id}
      remove={DeleteSecret}
      consequence="Policies that read it turn visitors away at once."
    >
      <Section title="In a traffic policy" lead="In an expression, or in a setting that takes a template.">
        <pre>
          <code>{`\${secrets.get(${quoted(secret.vaultName)}, ${quoted(secret.name)})}`}</code>
        </pre>
      </Section>
      <Section title="Settings">
        <SecretForm
          key={id}
          vaultId={secret.vault.id}
          secret={secret}
          onDone={() => toast('The secret is changed.')}
          onCancel={() => route(vault)}
        />
      </Section>
    </DetailPage>
  );
}

/** A text of CEL. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
