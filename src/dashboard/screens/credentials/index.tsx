import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import './credentials.css';
import { CredentialPage } from './detail.tsx';
import { EditCredential } from './edit.tsx';
import { CredentialList } from './list.tsx';
import { NewCredential } from './new.tsx';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={CredentialList} />
      <Route path="/new" component={NewCredential} />
      <Route path="/:id" component={CredentialPage} />
      <Route path="/:id/edit" component={EditCredential} />
      <Route default component={NotFound} />
    </Router>
  );
}
