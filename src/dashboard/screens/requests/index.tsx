import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import { LoggedRequestPage } from './detail.tsx';
import { RequestLogPage } from './list.tsx';
import './requests.css';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={RequestLogPage} />
      <Route path="/:id" component={LoggedRequestPage} />
      <Route default component={NotFound} />
    </Router>
  );
}
